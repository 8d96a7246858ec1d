import FleetWire
import NIOCore
import RESP
import System

/// The bridge: keeps the engine connected, and serves `io.countdownd.Backend` from it. Everything happens on one event
/// loop, to which it is confined.
public final class Bridge: @unchecked Sendable {
    /// The longest pause before another attempt to connect, in microseconds.
    private static let greatestPause = (ofServer: Int64(5_000_000), ofSentinels: Int64(1_000_000))
    /// How often the version of the log is compared.
    private static let heartbeat = TimeAmount.seconds(30)
    /// How often the connections for changes and queries are checked: a network can lose one without a word, and a firewall
    /// forgets those that are quiet.
    private static let connectionCheck = TimeAmount.seconds(2)
    /// How often the clock is read and the subscription is checked; otherwise the bridge sends nothing on it and would not see
    /// that it is dead.
    private static let subscriptionCheck = TimeAmount.seconds(5)
    /// The message on the channel of the bridge that has noticed a jump of the engine's clock first, at most once per second.
    private static let clockMessage = (text: "clock", interval: Int64(1_000_000))
    /// The messages that wait for answers, at most.
    private static let heldMessages = 1_000
    /// After how many microseconds the sentinels can be asked again, and for how many their reports are used.
    private static let reportTimes: (least: Int64, greatest: Int64) = (200_000, 3_000_000)
    /// A step of the engine's clock that is logged, in microseconds.
    private static let loggedStep: Int64 = 100_000

    let loop: any EventLoop
    let log: LimitedLog
    /// As it was configured.
    private var configuredURL: EngineURL
    private var watches: [SentinelWatch] = []
    /// What the sentinels have said last.
    private var reports: SentinelReports?
    /// What waits for the next reports.
    private var awaitedReports: [() -> Void] = []
    /// When each replica has acknowledged changes of the present primary, on the boot clock.
    private var acknowledgements: [ServerAddress: Int64] = [:]
    /// The engine that is being connected to.
    private var target: ServerAddress?
    private(set) var settings: NamespaceSettings
    private(set) var keys: NamespaceKeys
    /// The engine while it is connected.
    private(set) var session: EngineSession?
    /// Why the engine is not connected, as a sentence.
    private(set) var failure: String
    /// Is added to the engine's clock, for tests: microseconds.
    private(set) var clockShift: Int64 = 0

    private var clock = EngineClock()
    private var followers: [ObjectIdentifier: Follower] = [:]
    /// The messages that are not delivered yet.
    private var messages: [String] = []
    private(set) lazy var proposer = Proposer(of: self)
    /// The last session's engine, for descriptions while it is lost.
    private var engine: String?
    /// The sentence that was logged last; nil if the engine is connected.
    private var loggedFailure: String?
    private var loggedWarnings: [String] = []
    private var loggedRefusal: String?
    private var isUnacknowledgedLogged = false
    private var loggedSkips = 0
    private var isMessageLogged = false
    private var isClockErrorLogged = false
    private var isDelayLogged = false
    /// When the last message about the clock was sent, on the boot clock.
    private var clockMessageTime = Int64.min / 2
    /// Whether the URL has led to the engine.
    private var hasConnected = false
    private var attempts = 0
    /// Whether the last sessions have ended soon after they had begun: then each further one may do so too.
    private var isFlapping = false
    /// Whether the present session has lasted for a while.
    private var isSettled = false
    /// Counts sessions and new URLs, so that what belongs to an earlier one is ignored.
    private var generation = 0

    init(url: EngineURL, log: Log, on loop: any EventLoop) {
        configuredURL = url
        self.log = LimitedLog(log, on: loop)
        self.loop = loop
        settings = NamespaceSettings(url)
        keys = NamespaceKeys(url.namespace)
        failure = "connecting to \(url.address)"
    }

    // MARK: The session

    /// The URL, with the engine's address if it is known.
    var url: EngineURL { session?.url ?? configuredURL }

    /// Watches the sentinels, and connects, again and again until it succeeds.
    func start() {
        watches = configuredURL.sentinels.map { sentinel in
            SentinelWatch(
                configuredURL.sentinel(at: sentinel),
                log,
                isConnected: { self.session != nil },
                onNews: { self.lookUpPrimary(isAttempt: false) }
            )
        }
        for watch in watches { watch.start(on: loop) }
        connect()
    }

    private func connect() {
        if configuredURL.primary == nil {
            open(configuredURL, epoch: nil)
        } else {
            lookUpPrimary(isAttempt: true)
        }
    }

    /// Asks the sentinels for the primary and its replicas, and connects to it.
    ///
    /// - Parameter isAttempt: whether this is the only attempt to connect.
    private func lookUpPrimary(isAttempt: Bool) {
        let (url, loop, generation) = (configuredURL, loop, generation)
        Task {
            let result: Result<SentinelReports, EngineFailure>
            do {
                result = .success(try await PrimaryLookup.reports(of: url, on: loop))
            } catch {
                result = .failure(EngineFailure(error, of: url))
            }
            loop.execute {
                if generation == self.generation {
                    switch result {
                    case .success(let reports): self.use(reports)
                    case .failure(let failure): if isAttempt { self.fail(failure) }
                    }
                }
                let completions = self.awaitedReports
                self.awaitedReports = []
                for completion in completions { completion() }
            }
        }
    }

    /// Goes over to the primary that the sentinels name.
    private func use(_ reports: SentinelReports) {
        let primary = reports.primary
        // A sentinel that has not heard of the last failover names the primary before it.
        guard session == nil || primary.epoch >= session?.epoch ?? 0 else { return }
        self.reports = reports
        if let session {
            guard primary.address != session.url.server else { return }
            let name = url.primary ?? ""
            endSession(EngineFailure("the primary '\(name)' is \(primary.address) now, and no longer \(url.address)"))
        } else if primary.address != target {
            generation += 1
            open(configuredURL.engine(at: primary.address), epoch: primary.epoch)
        }
    }

    private func open(_ url: EngineURL, epoch: Int64?) {
        target = url.server
        let (loop, generation) = (loop, generation)
        Task {
            let result: Result<EngineSession, EngineFailure>
            do {
                result = .success(try await EngineSession.open(url, epoch: epoch, on: loop))
            } catch {
                result = .failure(EngineFailure(error, of: url))
            }
            loop.execute { self.finish(result, generation) }
        }
    }

    private func finish(_ result: Result<EngineSession, EngineFailure>, _ generation: Int) {
        guard generation == self.generation else {
            if case .success(let session) = result { close(session, EngineFailure("another engine is in use")) }
            return
        }
        target = nil
        switch result {
        case .success(let session): begin(session)
        case .failure(let failure): fail(failure)
        }
    }

    /// An attempt to connect has failed.
    private func fail(_ reason: EngineFailure) {
        let failure = hasConnected ? reason.withoutHint : reason
        let isNews = failure.description != self.failure
        note(failure)
        if isNews { for follower in followers.values { follower.stop(failure.description) } }
        retry()
    }

    private func begin(_ session: EngineSession) {
        generation += 1
        (isSettled, isMessageLogged, hasConnected) = (false, false, true)
        self.session = session
        acknowledgements = Dictionary(uniqueKeysWithValues: session.replicas.map { ($0, BootClock.now) })
        engine = session.engine
        let generation = generation
        for connection in session.connections {
            connection.onEnd = { failure in
                if generation == self.generation { self.endSession(failure) }
            }
        }
        session.subscription.onMessage = { self.receive($0) }
        if !isFlapping { logConnection(session) }
        if session.warnings != loggedWarnings {
            for warning in session.warnings { log.write(.warning, warning) }
            loggedWarnings = session.warnings
        }
        for sample in session.samples { take(sample, isTold: false) }
        for follower in followers.values { follower.start() }
        beat(generation, every: Self.connectionCheck) { session in
            for connection in [session.changes, session.queries] { connection.check() }
        }
        beat(generation, every: Self.heartbeat) { self.readVersion($0) }
        beat(generation, every: Self.subscriptionCheck) { session in
            self.settle(session)
            self.readClock(session)
            let sent = BootClock.now
            session.subscription.send(["PING"]) { reply in
                if case .success = reply { self.note(channelDelay: BootClock.now - sent) }
            }
        }
        // A connection may have ended between its last reply and this.
        if let failure = session.connections.compactMap(\.end).first { endSession(failure) }
    }

    /// The session has lasted for a while, so it counts as connected.
    private func settle(_ session: EngineSession) {
        guard !isSettled else { return }
        isSettled = true
        attempts = 0
        if isFlapping { logConnection(session) }
        isFlapping = false
    }

    private func logConnection(_ session: EngineSession) {
        loggedFailure = nil
        let primary = url.primary.map { ", the primary '\($0)'" } ?? ""
        log.write(.info, "connected to \(session.engine) at \(url.address)\(primary), namespace \(url.namespace)")
    }

    /// Gives up the connections, and connects anew.
    func endSession(_ failure: EngineFailure, level: Log.Level = .error) {
        guard let session else { return }
        self.session = nil
        generation += 1
        isFlapping = !isSettled
        clock.invalidate()
        messages = []
        note(failure, level)
        close(session, failure)
        for follower in followers.values { follower.stop(failure.description) }
        retry()
    }

    private func close(_ session: EngineSession, _ failure: EngineFailure) {
        for connection in session.connections { connection.close(failure) }
    }

    private func retry() {
        // Sentinels name the new primary before they publish it.
        let pauses = Self.greatestPause
        attempts += 1
        let greatest = configuredURL.primary == nil ? pauses.ofServer : pauses.ofSentinels
        let most = Backoff.delay(before: attempts, upTo: greatest)
        let pause = Int64.random(in: (most / 2)...most)
        let generation = generation
        loop.scheduleTask(in: .microseconds(pause)) {
            if generation == self.generation { self.connect() }
        }
    }

    /// Replaces the URL, for example because the password was changed, and connects with it.
    func replaceURL(_ url: EngineURL) {
        guard url != configuredURL else { return }
        configuredURL = url
        settings = NamespaceSettings(url)
        keys = NamespaceKeys(url.namespace)
        (attempts, hasConnected, reports) = (0, false, nil)
        for watch in watches { watch.stop() }
        if session != nil {
            endSession(EngineFailure("the URL has changed"), level: .info)
            isFlapping = false
        }
        generation += 1
        target = nil
        start()
    }

    private func note(_ failure: EngineFailure, _ level: Log.Level = .error) {
        self.failure = failure.description
        guard loggedFailure != failure.description else { return }
        log.write(level, failure.description)
        loggedFailure = failure.description
    }

    private func beat(_ generation: Int, every time: TimeAmount, _ body: @escaping @Sendable (EngineSession) -> Void) {
        loop.scheduleTask(in: time) {
            guard generation == self.generation, let session = self.session else { return }
            body(session)
            self.beat(generation, every: time, body)
        }
    }

    // MARK: Changes that the engine refuses

    /// Notes the words with which the engine has refused a command.
    func note(refusal words: String, of command: String) {
        let failure = EngineFailure(reply: words, to: command, of: url)
        if EngineFailure.endsSession(words) { return endSession(failure) }
        guard loggedRefusal != failure.description else { return }
        loggedRefusal = failure.description
        log.write(.error, "changes are refused: \(failure)")
    }

    /// Notes that the engine has made changes.
    func noteAcceptance() {
        guard loggedRefusal != nil else { return }
        loggedRefusal = nil
        log.write(.info, "\(url.address) accepts changes again")
    }

    /// Notes how many replicas have acknowledged changes in time, and which other one can become the primary.
    func note(acknowledgements count: Int, lacking candidate: ServerAddress?) {
        let isEnough = count >= url.acknowledgements && candidate == nil
        guard isEnough == isUnacknowledgedLogged else { return }
        isUnacknowledgedLogged = !isEnough
        if isEnough {
            log.write(.info, "the replicas of \(url.address) acknowledge changes again")
        } else {
            let need = candidate.map { "\($0) can become the primary" } ?? "acks=\(url.acknowledgements) demands more"
            let sentence = "\(count) replicas of \(url.address) acknowledge changes in time"
            log.write(.error, "\(sentence), and \(need): they may be lost")
        }
    }

    /// Notes which replicas have acknowledged changes.
    func note(acknowledgementsOf replicas: Set<ServerAddress>) {
        for replica in replicas { acknowledgements[replica] = BootClock.now }
    }

    /// Finds a replica that the sentinels can make the primary, and that is not among the given ones. The
    /// completion is called on the loop; without sentinels with nil.
    func candidate(
        besides replicas: Set<ServerAddress>,
        of session: EngineSession,
        completion: @escaping (ServerAddress?) -> Void
    ) {
        guard session.epoch != nil, let reports, let missing = reports.replica(besides: replicas, where: { _ in true })
        else { return completion(nil) }
        func candidate() -> ServerAddress? {
            guard let reports = self.reports, reports.isMajority, reports.primary.address == session.url.server,
                BootClock.now - reports.asked < Self.reportTimes.greatest
            else { return missing }
            return reports.replica(besides: replicas) { replica in
                replica.isCandidate(seen: self.acknowledgements[replica.address], asked: reports.asked)
            }
        }
        let (first, age) = (candidate(), BootClock.now - reports.asked)
        if age > Self.reportTimes.least, first != nil || age > Self.reportTimes.greatest / 3 {
            if awaitedReports.isEmpty { lookUpPrimary(isAttempt: false) }
            awaitedReports.append(first == nil ? {} : { completion(candidate()) })
        }
        if first == nil || age <= Self.reportTimes.least { completion(first) }
    }

    /// Notes how many records of a snapshot cannot be read.
    func note(skips: Int) {
        guard skips != loggedSkips else { return }
        loggedSkips = skips
        guard skips > 0 else { return }
        log.write(.error, "\(skips) records in \(keys.now) at \(url.address) cannot be read, and are skipped")
    }

    /// Notes why a follower reads every record again.
    func note(_ state: Follow.State, _ reason: String) {
        log.write(state == .trimmed ? .warning : .error, "\(url.address): \(reason): every record is read again")
    }

    /// Notes that a message of the channel cannot be read.
    func noteForeignMessage() {
        guard !isMessageLogged else { return }
        isMessageLogged = true
        log.write(.error, "a message in \(keys.log) at \(url.address) is no change: the log is read in its place")
    }

    // MARK: The clock

    /// The offset of the engine's clock; nil if it was never read.
    var clockOffset: ClockOffset? { clock.offset(at: BootClock.now) }

    /// Takes a reading of the engine's clock.
    ///
    /// - Parameters:
    ///   - sample: the reading.
    ///   - isTold: whether a movement is reported to followers.
    ///   - isAnnounced: whether a bridge has announced a jump; then the offset is reported in any case.
    func take(_ sample: EngineSession.TimeSample, isTold: Bool = true, isAnnounced: Bool = false) {
        let (time, overflow) = sample.engine.addingReportingOverflow(clockShift)
        guard !overflow else { return }
        let movement = clock.add(engine: time, sent: sample.sent, received: sample.received)
        guard isAnnounced || movement != nil else { return }
        if let movement, abs(movement) > Self.loggedStep {
            log.write(
                .error,
                "the clock of \(url.address) has jumped by \(movement / 1_000) ms: use NTP on its machine"
            )
        }
        guard isTold, let offset = clockOffset else { return }
        for follower in followers.values { follower.clockMoved(offset) }
        if let movement, abs(movement) > settings.margin / 2, !isAnnounced { announceJump() }
    }

    /// Lets the other bridges read the clock at once: those that make no changes would notice the jump later.
    private func announceJump() {
        guard let session, BootClock.now - clockMessageTime >= Self.clockMessage.interval else { return }
        clockMessageTime = BootClock.now
        session.queries.send(["SPUBLISH", keys.log, Self.clockMessage.text]) { _ in }
    }

    private func readClock(_ session: EngineSession, isAnnounced: Bool = false) {
        let sent = BootClock.now
        session.queries.send(["TIME"]) { reply in
            guard let time = (try? reply.get()).flatMap(EngineSession.time) else { return }
            let sample = EngineSession.TimeSample(engine: time, sent: sent, received: BootClock.now)
            self.take(sample, isAnnounced: isAnnounced)
            self.checkClockError()
        }
    }

    /// Reads the version of the log. If the record that will be removed last is missing, the records are lost: then the log gets a
    /// new origin, so that every follower reads the records that are left.
    private static let versionScript = """
        local function isLost(key) return not redis.call('HGET', KEYS[3], key) end
        local last = redis.call('ZRANGE', KEYS[2], -1, -1)[1]
        if last and isLost(last) then
            local time = redis.call('TIME')
            local version = math.max(time[1] * 1000000 + time[2], (redis.call('GET', KEYS[1]) or 0) + 1)
            for place = 4, 1, -3 do redis.call('SET', KEYS[place], string.format('%.0f', version)) end
            for _, key in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
                if isLost(key) then redis.call('ZREM', KEYS[2], key) end
            end
        end
        return redis.call('GET', KEYS[1])
        """

    private func readVersion(_ session: EngineSession) {
        let command: RESPCommand = [
            "EVAL", Self.versionScript, "4", keys.version, keys.due, keys.now, keys.origin,
        ]
        session.queries.send(command) { reply in
            guard case .success(let value) = reply else { return }
            if case .error = value { return }
            for follower in self.followers.values { follower.check(version: value.number) }
        }
    }

    /// Warns if the margin before deadlines does not cover the clock's error.
    private func checkClockError() {
        guard let error = clockOffset?.errorUSec else { return }
        let isTooGreat = error > settings.margin / 2
        if isTooGreat, !isClockErrorLogged {
            log.write(
                .warning,
                "the clock of \(url.address) is known to \(error / 1_000) ms only: the network is too slow"
            )
        }
        isClockErrorLogged = isTooGreat
    }

    /// Warns if changes may come so late that the margin before deadlines does not cover it.
    private func note(channelDelay delay: Int64) {
        let isTooGreat = delay > settings.margin * 3 / 4
        if isTooGreat, !isDelayLogged {
            log.write(
                .warning,
                "a command takes \(delay / 1_000) ms to \(url.address) and back, and the margin before deadlines is "
                    + "\(settings.margin / 1_000) ms: a countdown that is postponed shortly before its end may end twice; "
                    + "use a greater margin= in the URLs of all bridges"
            )
        }
        isDelayLogged = isTooGreat
    }

    /// Moves the engine's clock as this bridge sees it, for tests.
    func setClockShift(_ shift: Int64) {
        clockShift = shift
        guard let session else { return }
        readClock(session)
        readVersion(session)
    }

    // MARK: Calls

    /// Answers `Describe`.
    var description: Result<Describe.Reply, Unreachable> {
        guard let engine else { return .failure(Unreachable(reason: failure)) }
        return .success(
            Describe.Reply(
                engine: engine,
                namespace: settings.namespace,
                shards: settings.shards,
                retentionUSec: settings.retention,
                marginUSec: settings.margin,
                countdowns: settings.countdowns,
                acknowledgements: Int64(url.acknowledgements),
                version: BridgeVersion.current
            )
        )
    }

    /// Begins to follow.
    func add(_ follower: Follower) {
        followers[ObjectIdentifier(follower)] = follower
        if session == nil { follower.stop(failure) } else { follower.start() }
    }

    /// Ends to follow.
    func remove(_ follower: Follower) { followers[ObjectIdentifier(follower)] = nil }

    /// A client was sent the answers to its proposals.
    func noteAnswers(_ answers: [Propose.Answer], to proposals: [Propose.Proposal]) {
        for (answer, proposal) in zip(answers, proposals) where proposal.record != nil {
            guard case .won(let version?) = answer else { continue }
            for follower in followers.values { follower.noteWon(proposal.id, version: version) }
        }
    }

    private func receive(_ message: RESPValue) {
        // Followers look up the log if they cannot read a message.
        let text = message.elements?.last?.text ?? ""
        if text == Self.clockMessage.text {
            if let session { readClock(session, isAnnounced: true) }
            return
        }
        if messages.isEmpty || messages.count == Self.heldMessages { loop.execute { self.deliverMessages() } }
        messages.append(text)
    }

    /// Delivers messages in their order. The answer to a change and its message come on two connections, one right after the
    /// other. The message of an own change waits for the answer, because followers leave out answered changes.
    func deliverMessages() {
        var count = 0
        for text in messages {
            let mayWait = proposer.isAwaitingAnswers && messages.count <= Self.heldMessages
            if mayWait, followers.values.contains(where: { $0.expectsAnswer(for: text) }) { break }
            count += 1
            for follower in followers.values { follower.receive(text) }
        }
        messages.removeFirst(min(count, messages.count))
    }
}
