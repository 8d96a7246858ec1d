import CountdownCore
import TestSupport
import Testing

@testable import Fleet

/// Three hosts, an engine and a network that delays, loses and repeats. Everything depends on the seed.
final class World {
    enum Event {
        case wake(host: Int)
        case call(host: Int, Request, number: Int)
        case carryOut(host: Int, birth: Int, [Proposal], isDuplicate: Bool)
        case answer(host: Int, birth: Int, [Answer], [Proposal])
        case open(host: Int, stream: Int, LogCursor.Opening)
        case page(host: Int, stream: Int, [Key], LogCursor.Position)
        case report(host: Int, stream: Int, LogCursor.Event)
        case reopen(host: Int, stream: Int)
    }

    /// The faults that every host must survive.
    struct Troubles {
        var loses = false
        /// The engine refuses changes at random.
        var refuses = false
        var dies = false
        var failsOver = false
        /// Hosts take the end of a lost history back.
        var takesBack = false
        /// The longest delay of a message in the network, in microseconds.
        var delay: Int64 = 2_000
    }

    private struct Scheduled {
        let instant: WallInstant
        let order: Int
        let event: Event
    }

    /// A host and its connections.
    private struct Member {
        var host: FleetHost
        /// How often it was started.
        var birth = 0
        var stream = 0
        /// Whether the stream has reached the end of the log, so that new entries are sent on it.
        var isSubscribed = false
        /// Nothing overtakes on the stream.
        var lastReport = noon
        var lastNow = noon
        /// When it last lacked the stream, an answer of the engine, or the engine's consent.
        var lastTrouble = noon
        /// The error of the host's clock in parts per million; it is corrected every 30 s.
        var drift: Int64
        var wakes: WallInstant?
    }

    static let keys = (0..<5).map { key("k/\($0)") } + rates.keys.sorted { $0.text < $1.text }
    /// Keys that are only rates: the time of a token, and the most tokens at once.
    static let rates: [Key: (token: Duration, burst: Int64)] = [
        key("rate/a"): (.milliseconds(20), 10), key("rate/b"): (.milliseconds(5), 3),
        key("rate/c"): (.milliseconds(70), 8),
    ]
    private let troubles: Troubles
    private var generator: SeededGenerator
    private(set) var engine = Engine(at: noon)
    private var backups: [Engine] = []
    private var members: [Member] = []
    private var events: [Scheduled] = []
    private var order = 0
    private var now = noon
    private var calls = 0
    /// Calls whose host has died, or that wait in a queue.
    private var mayBeOpen: Set<Int> = []
    private var requests: [Int: Request] = [:]
    private var called: [Int: WallInstant] = [:]
    /// The history of the engine, without the changes that were lost in failovers.
    private var history: [(entry: LogEntry, record: Record, at: WallInstant)] = []
    /// The versions of changes that the engine has made together with the one before.
    private var chained: Set<LogVersion> = []
    /// The records that each key had in the engine, those that were lost in failovers too.
    private var timelines: [Key: [(record: Record?, at: WallInstant)]] = [:]
    private var results: [Int: CallResult] = [:]
    private var answered: [Int: WallInstant] = [:]
    /// Answered calls whose host was in trouble meanwhile.
    private var troubled: Set<Int> = []
    private(set) var failovers = 0
    /// Whether the troubles have ended.
    private var isQuiet = false
    private(set) var postponedTooLate = 0

    init(seed: UInt64, _ troubles: Troubles) {
        generator = SeededGenerator(seed: seed)
        self.troubles = troubles
        for number in 0..<3 {
            let drift = [0, 100, -100][number] as Int64
            members.append(Member(host: FleetHost(UInt64(number + 1), options: options), drift: drift))
            openStream(of: number)
        }
    }

    // MARK: Time and the network

    private var options: Fleet.Member.Options {
        var options = Fleet.Member.Options()
        options.needsAcknowledgements = troubles.takesBack
        return options
    }

    private func draw(_ range: ClosedRange<Int64>) -> Int64 { .random(in: range, using: &generator) }
    private func chance(_ percent: Int64) -> Bool { draw(1...100) <= percent }
    private func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(draw(0...Int64(elements.count - 1)))]
    }

    private func delay() -> Duration {
        .microseconds(chance(5) ? draw(0...troubles.delay) : draw(50...min(400, troubles.delay)))
    }

    private func schedule(_ event: Event, after duration: Duration) {
        order += 1
        let scheduled = Scheduled(instant: now + duration, order: order, event: event)
        var (low, high) = (0, events.count)
        while low < high {
            let middle = (low + high) / 2
            let other = events[middle]
            if (other.instant, other.order) > (scheduled.instant, order) { low = middle + 1 } else { high = middle }
        }
        events.insert(scheduled, at: low)
    }

    /// The engine's time as a host knows it: never backwards.
    private func clock(of number: Int) -> Now {
        let age = (now - noon).microseconds % 30_000_000
        let reading = now + .microseconds(age * members[number].drift / 1_000_000)
        members[number].lastNow = max(reading, members[number].lastNow)
        return engineTime(members[number].lastNow)
    }

    private func report(_ event: LogCursor.Event, to number: Int, after pause: Duration = .zero) {
        let instant = max(now + pause + delay(), members[number].lastReport)
        members[number].lastReport = instant
        schedule(.report(host: number, stream: members[number].stream, event), after: instant - now)
    }

    // MARK: Running

    /// Calls come for a while; then the troubles end, and everything comes to rest.
    func run(seconds: Int64, calls count: Int) {
        let end = now + .seconds(seconds)
        while calls < count {
            // Many come at once for the same key.
            let (key, pause) = (pick(Self.keys), Duration.microseconds(draw(0...(end - now).microseconds - 1)))
            let most: Int64 = Self.rates[key] == nil ? 8 : 40
            for number in 0..<(chance(20) ? draw(2...most) : 1) {
                scheduleCall(of: key, after: pause + .microseconds(most > 8 ? number * draw(0...1_000) : 0))
            }
        }
        while let next = events.last, next.instant < end {
            step()
            cause()
        }
        now = end
        // On their next streams, hosts hear of the changes that were lost.
        for number in members.indices where troubles.loses { loseStream(of: number) }
        isQuiet = true
        step(until: now + .seconds(2))
        // Starts that wait in a queue would go on for as long as they last.
        for (number, request) in requests {
            for member in members.indices { members[member].host.member.withdraw(number, of: request.key) }
        }
        step(until: now + .seconds(2))
        // Clocks differ, so hosts are compared when nothing is about to end.
        let ends = engine.records.values.compactMap { (try? Record(json: $0.record ?? [], under: $0.key))?.end }
        while ends.contains(where: { abs(($0 - now).microseconds) < 10_000 }) { step(until: now + .milliseconds(20)) }
        for number in members.indices { turn(number) }
    }

    private func step(until end: WallInstant) {
        while let next = events.last, next.instant < end { step() }
        now = end
    }

    private func step() {
        guard let next = events.popLast() else { return }
        now = max(now, next.instant)
        handle(next.event)
    }

    private func handle(_ event: Event) {
        switch event {
        case .wake(let number):
            guard let wakes = members[number].wakes, wakes <= now else { return }
            members[number].wakes = nil
            turn(number)
        case .call(let number, let request, let call):
            called[call] = now
            turn(number) { $0.member.call(call, request, at: self.clock(of: number)) }
        case .carryOut(let number, let birth, let proposals, let isDuplicate):
            carryOut(proposals, of: number, birth, isDuplicate)
        case .answer(let number, let birth, let answers, let proposals):
            guard members[number].birth == birth else { return }
            let isRefused = answers.contains { answer in
                switch answer {
                case .unknown, .unreachable: true
                default: false
                }
            }
            if isRefused { members[number].lastTrouble = now }
            turn(number) { $0.receive(answers, to: proposals, at: self.clock(of: number)) }
        case .open(let number, let stream, let opening):
            guard members[number].stream == stream else { return }
            serve(opening, to: number)
        case .page(let number, let stream, let keys, let start):
            guard members[number].stream == stream else { return }
            servePage(keys, from: start, to: number)
        case .report(let number, let stream, let event):
            guard members[number].stream == stream else { return }
            turn(number) { $0.receive(event, at: self.clock(of: number)) }
        case .reopen(let number, let stream):
            guard members[number].stream == stream else { return }
            turn(number) { $0.reopen() }
        }
    }

    private func turn(_ number: Int, _ body: (FleetHost) -> Void = { _ in }) {
        let host = members[number].host
        let now = clock(of: number)
        host.turn(at: now, body)
        if !host.member.cursor.isLive { members[number].lastTrouble = max(self.now, members[number].lastTrouble) }
        for call in host.results.keys where answered[call] == nil {
            answered[call] = self.now
            if let from = called[call], from <= members[number].lastTrouble { troubled.insert(call) }
        }
        if host.opening != nil { openStream(of: number) }
        while true {
            let proposals = host.member.takeProposals()
            guard !proposals.isEmpty else { break }
            send(proposals, of: number)
        }
        guard let next = earliest(host.member.next(at: now), host.timetable.nextDeadline(at: now)) else { return }
        // Its clock may be slow.
        let pause = max(.microseconds(1), next - now.wall)
        let instant = self.now + pause
        if let wakes = members[number].wakes, wakes <= instant { return }
        members[number].wakes = instant
        schedule(.wake(host: number), after: pause)
    }

    // MARK: The bridge

    private func openStream(of number: Int) {
        guard let opening = members[number].host.takeOpening() else { return }
        members[number].stream += 1
        members[number].isSubscribed = false
        schedule(.open(host: number, stream: members[number].stream, opening), after: delay())
    }

    private func serve(_ opening: LogCursor.Opening, to number: Int) {
        let answer = opening.after.map(engine.resume) ?? nil
        if let answer { report(answer, to: number) }
        guard case .resumed = answer, let after = opening.after else {
            // Keys come in pages, between which the engine goes on.
            for (index, part) in [Array(Self.keys.prefix(2)), Array(Self.keys.dropFirst(2))].enumerated() {
                let event = Event.page(host: number, stream: members[number].stream, part, engine.position)
                schedule(event, after: .microseconds(Int64(index) * 300 + draw(0...200)))
            }
            return
        }
        level(number, after: after.version)
    }

    private func servePage(_ keys: [Key], from start: LogCursor.Position, to number: Int) {
        report(.page(keys.compactMap { engine.records[$0] }.shuffled(using: &generator), start), to: number)
        if let last = Self.keys.last, keys.contains(last) { level(number, after: start.version) }
    }

    private func level(_ number: Int, after version: LogVersion) {
        report(.changes(engine.entries(after: version)), to: number)
        report(.live, to: number)
        members[number].isSubscribed = true
    }

    private var loses: Bool { troubles.loses && !isQuiet }

    private func send(_ proposals: [Proposal], of number: Int) {
        let birth = members[number].birth
        if loses, chance(8) {
            // Either the whole call was sent or nothing of it. A confirmation leaves no trace.
            let wasSent = chance(50)
            let answers = proposals.map { proposal in
                wasSent && proposal.record != nil ? Answer.unknown("lost") : .unreachable("not sent")
            }
            if wasSent, chance(50) {
                schedule(.carryOut(host: number, birth: birth, proposals, isDuplicate: true), after: delay())
            }
            let pause = Duration.milliseconds(draw(1...(chance(20) ? 3_000 : 300)))
            members[number].lastTrouble = max(now + pause, members[number].lastTrouble)
            schedule(.answer(host: number, birth: birth, answers, proposals), after: pause)
        } else {
            schedule(.carryOut(host: number, birth: birth, proposals, isDuplicate: false), after: delay())
        }
    }

    private func carryOut(_ proposals: [Proposal], of number: Int, _ birth: Int, _ isDuplicate: Bool) {
        let before = engine.version
        engine.isFull = troubles.refuses && !isQuiet && chance(20)
        let answers = engine.propose(proposals, at: now)
        let made = engine.entries(after: before)
        for entry in made {
            if entry.version != made.first?.version { chained.insert(entry.version) }
            guard let record = try? Record(json: entry.record ?? [], under: entry.key) else {
                preconditionFailure("a host proposes records")
            }
            history.append((entry, record, now))
            timelines[entry.key, default: []].append((record, now))
        }
        if !made.isEmpty {
            for other in members.indices where members[other].isSubscribed {
                if loses, chance(1) { continue }
                report(.changes(made), to: other)
            }
        }
        guard !isDuplicate else { return }
        schedule(.answer(host: number, birth: birth, answers, proposals), after: delay())
        // A change that the engine has refused must not reach it again.
        guard loses, chance(3), answers.allSatisfy({ $0.version != nil }) else { return }
        let pause = Duration.milliseconds(draw(1...3_000))
        schedule(.carryOut(host: number, birth: birth, proposals, isDuplicate: true), after: pause)
    }

    // MARK: Troubles

    private func cause() {
        if troubles.loses, chance(1) { loseStream(of: Int(draw(0...2))) }
        if troubles.dies, draw(1...400) == 1 { die(Int(draw(0...2))) }
        guard troubles.failsOver else { return }
        if draw(1...40) == 1 { backups.append(engine) }
        if draw(1...300) == 1 { failOver() }
        if draw(1...300) == 1 { engine.trimLog(to: Int(draw(0...5))) }
    }

    private func loseStream(of number: Int) {
        guard members[number].host.member.cursor.state != .off else { return }
        members[number].stream += 1
        members[number].isSubscribed = false
        turn(number) { $0.receive(.lost("cut"), at: self.clock(of: number)) }
        schedule(.reopen(host: number, stream: members[number].stream), after: .milliseconds(draw(0...200)))
    }

    private func die(_ number: Int) {
        let host = members[number].host
        mayBeOpen.formUnion(requests.keys.filter { results[$0] == nil })
        collect(from: host)
        members[number].birth += 1
        let birth = UInt64(members[number].birth)
        members[number].host = FleetHost(UInt64(number + 1), start: birth, options: options, stored: host.stored)
        members[number].wakes = nil
        openStream(of: number)
        turn(number)
    }

    /// The engine continues with an older state: acknowledged changes are lost.
    private func failOver() {
        guard let older = backups.popLast() else { return }
        backups = []
        failovers += 1
        engine = older
        history.removeAll { $0.entry.version > older.version }
        for key in timelines.keys {
            timelines[key]?.append(
                (engine.records[key].flatMap { try? Record(json: $0.record ?? [], under: $0.key) }, now)
            )
        }
        for number in members.indices { loseStream(of: number) }
    }

    // MARK: Calls

    private func scheduleCall(of key: Key, after pause: Duration) {
        calls += 1
        let request = request(key, number: calls)
        requests[calls] = request
        schedule(.call(host: Int(draw(0...2)), request, number: calls), after: pause)
        if case .start(let start) = request, start.ifLive == .wait { mayBeOpen.insert(calls) }
    }

    /// A start has the number of its call as label, and as metadata the number of the call that began the run.
    private func request(_ key: Key, number: Int) -> Request {
        if let (token, burst) = Self.rates[key] {
            let most = Duration(microseconds: token.microseconds * burst)
            return .start(Request.Start(key, .after(token), ifLive: .extend, label: "\(number)", upTo: most))
        }
        switch draw(0...12) {
        case 0...6:
            let ifLive: Request.IfLive = pick([.attach, .fail, .fail, .extend, .extend, .restart, .wait])
            return .start(
                Request.Start(
                    key,
                    .after(.milliseconds(draw(pick([1...100, 100...900, 900...4_000, 8_000...60_000])))),
                    ifLive: ifLive,
                    label: "\(number)",
                    metadata: ifLive == .extend ? nil : ["run": "\(number)"],
                    forget: chance(20)
                )
            )
        case 7: return .cancel(key)
        case 8: return .finish(key)
        case 9: return .pause(key)
        case 10, 11: return .resume(key)
        default: return .adjust(key, .by(.milliseconds(draw(-500...1_500))))
        }
    }

    // MARK: Checks

    private func collect(from host: FleetHost) {
        for (number, (result, _)) in host.results { results[number] = result }
    }

    func check() throws {
        for member in members { collect(from: member.host) }
        try checkResults()
        try checkHistory()
        try checkRates()
        try checkAnswers()
        try checkEqual()
        try checkEnds()
    }

    /// Each call has a result, and each change is made once if it was acknowledged and at most once otherwise.
    private func checkResults() throws {
        var made: [String: Int] = [:]
        for (_, record, _) in history {
            // Other changes keep the label of a start.
            guard record.kind == .started || record.kind == .restarted, let label = record.countdown.label else {
                continue
            }
            made[label, default: 0] += 1
        }
        for (number, request) in requests {
            guard let result = results[number] else {
                try #require(mayBeOpen.contains(number), "call \(number) has no result: \(request)")
                continue
            }
            guard case .start = request else { continue }
            let count = made["\(number)"] ?? 0
            switch result {
            case .changed(.started, _), .changed(.restarted, _):
                try #require(failovers == 0 ? count == 1 : count <= 1, "call \(number)")
            case .unknown: try #require(count <= 1, "call \(number)")
            default: try #require(count == 0, "call \(number): \(result)")
            }
        }
    }

    /// Two runs of a key never overlap, nothing changes shortly before a deadline, and the changes of a run follow its start.
    private func checkHistory() throws {
        var last: [Key: (record: Record, run: ProposalID)] = [:]
        for (entry, record, instant) in history {
            let run = record.run ?? entry.id
            if let (before, runBefore) = last[entry.key] {
                if run == runBefore {
                    try #require(!before.hasEnded)
                    // The changes of a chain have no margin between them.
                    if let deadline = before.end, !chained.contains(entry.version) {
                        try #require(instant <= deadline - .milliseconds(50))
                    }
                } else {
                    try #require(record.kind == .started)
                    try #require(before.hasEnded || before.end.map { $0 <= instant } ?? false, "two runs overlap")
                }
            } else {
                try #require(record.kind == .started)
            }
            last[entry.key] = (record, run)
        }
    }

    /// Each token is taken once, and no more than the limit of its rate are taken. Hosts' clocks are off by up to 3 ms.
    private func checkRates() throws {
        var labels: Set<String> = []
        var free: [Key: WallInstant] = [:]
        for (entry, record, instant) in history {
            guard let (token, burst) = Self.rates[entry.key], let end = record.end else { continue }
            let isNew = labels.insert(record.countdown.label ?? "").inserted
            try #require(isNew || failovers > 0, "a token is taken twice")
            let begin = record.kind == .started ? record.countdown.started : free[entry.key] ?? record.countdown.started
            try #require(begin >= free[entry.key] ?? begin && end == begin + token)
            let most = Duration(microseconds: token.microseconds * burst)
            try #require(end <= instant + most + .milliseconds(3), "more tokens than the limit")
            free[entry.key] = end
        }
        for (number, request) in requests where Self.rates[request.key] != nil && failovers == 0 {
            guard case .changed = results[number] else { continue }
            try #require(labels.contains("\(number)"), "call \(number) has no token")
        }
    }

    /// An answer without a change was true at some instant between the call and the answer. A host in trouble may answer from
    /// its copy: about a live countdown that was made before.
    private func checkAnswers() throws {
        for (number, request) in requests {
            guard let result = results[number], let from = called[number], let to = answered[number] else { continue }
            let states = states(of: request.key, from: from, to: to)
            switch result {
            case .attached(let countdown), .refused(.alreadyRunning(let countdown, _)):
                let wasLive = states.contains { $0.wasLive && $0.record?.countdown.started == countdown.started }
                let wasMade = timelines[request.key, default: []].contains { record, at in
                    at <= to && record?.countdown.started == countdown.started
                }
                try #require(wasLive || troubled.contains(number) && wasMade, "call \(number): \(result)")
            case .refused(.wrongState(let countdown)):
                let wasTrue = states.contains {
                    // The end of a later countdown may have been forgotten.
                    countdown.isLive ? $0.wasLive && $0.record?.countdown.started == countdown.started : $0.wasFree
                }
                try #require(wasTrue, "call \(number): \(result)")
            case .refused(.noSuchCountdown): try #require(states.contains { $0.wasFree }, "call \(number)")
            case .unknown, .notMade: try #require(troubles.loses, "call \(number): \(result)")
            default: break
            }
        }
    }

    /// The records that a key had between two instants, and whether it was live, and free, while it had each.
    private func states(
        of key: Key,
        from: WallInstant,
        to: WallInstant
    ) -> [(record: Record?, wasLive: Bool, wasFree: Bool)] {
        let all = [(record: nil, at: noon)] + timelines[key, default: []].filter { $0.at <= to }
        return zip(all, all.dropFirst().map(\.at) + [to]).filter { $0.1 >= from }.map { state, end in
            guard let record = state.record else { return (nil, wasLive: false, wasFree: true) }
            return (
                record,
                wasLive: !record.hasEnded && record.end.map { $0 > max(state.at, from) } ?? true,
                wasFree: record.hasEnded || record.end.map { $0 <= end } ?? false
            )
        }
    }

    /// All hosts have the engine's live countdowns.
    private func checkEqual() throws {
        let time = engineTime(now)
        let reference = FleetHost(99)
        for entry in engine.records.values {
            let record = try Record(json: entry.record ?? [], under: entry.key)
            _ = reference.timetable.applyRemote(.countdown(record.countdown, record.kind, isSameRun: false), at: time)
        }
        for member in members {
            try #require(member.host.member.cursor.isLive)
            try #require(member.host.member.cursor.position?.version == engine.version)
            try #require(member.host.live(at: time) == reference.live(at: time))
            let queued = requests.keys.filter { results[$0] == nil && mayBeOpen.contains($0) }
            try #require(member.host.member.calls <= queued.count)
        }
    }

    /// Each host announces one end for each start. A run ends twice only if a postponement came too late, or after a failover.
    private func checkEnds() throws {
        var runs: [String: Set<ProposalID>] = [:]
        for (entry, record, _) in history {
            runs["\(entry.key.text) \(record.countdown.started.microseconds)", default: []].insert(
                record.run ?? entry.id
            )
        }
        for host in members.map(\.host) {
            var ends: [String: Int] = [:]
            var live: Set<Key> = []
            for change in host.changes {
                switch change.kind {
                case .started:
                    let isNew = live.insert(change.countdown.key).inserted
                    try #require(isNew)
                case .finished, .cancelled:
                    let wasLive = live.remove(change.countdown.key) != nil
                    try #require(wasLive)
                    ends["\(change.countdown.key.text) \(change.countdown.started.microseconds)", default: 0] += 1
                default: break
                }
            }
            let late = host.notes.filter { if case .postponedTooLate = $0 { true } else { false } }.count
            postponedTooLate += late
            let twice = ends.reduce(0) { $0 + max(0, $1.value - (runs[$1.key]?.count ?? 0)) }
            try #require(twice <= late || failovers > 0)
        }
    }
}
