import CountdownCore
import Fleet
import FleetWire
import System
import Varlink

/// The link to the bridge: a connection on which the log is followed, and some on which changes are proposed.
struct BridgeLink {
    /// A report of the bridge.
    enum Report {
        case described(Describe.Reply)
        case clock(EngineOffset)
        /// Why the engine makes no changes now; nil if it does.
        case refusal(String?)
        case event(LogCursor.Event)
        case answers([Fleet.Answer], to: [Fleet.Proposal])
    }

    /// A connection on which at most one call is in progress, as the bridge carries out the calls of a connection one by one.
    private struct Proposer {
        let connection: BridgeConnection
        /// The proposals that were sent, and when; nil if the connection is idle.
        var sent: (proposals: [Fleet.Proposal], at: BootInstant)?
    }

    /// The greatest number of calls of `Propose` in progress. Each takes up to 64 proposals, and the bridge sends those that come
    /// together to the engine in one message. An engine that is near answers before many have gathered; a far one gets more calls
    /// at once, because a change that waits for the end of another one takes two round trips.
    private static let proposersLimits = (near: 8, far: 64)
    /// An engine whose last answer took longer is far.
    private static let nearRoundTrip = Duration.milliseconds(5)
    /// The bridge answers proposals after 2 s at the latest.
    private static let patience = Duration.seconds(3)
    /// How often a bridge with nothing to answer is asked whether it still works.
    private static let heartbeat = Duration.seconds(10)
    /// The longest pause before it connects again, in microseconds.
    private static let longestPause: Int64 = 1_000_000

    /// The path of the bridge's socket.
    let path: String
    /// The beginning of the IDs of this daemon's proposals.
    private let host: String
    /// The first of the tokens of its connections.
    private let firstToken: UInt64
    private var follower: BridgeConnection?
    private var proposers: [Proposer?] = Array(repeating: nil, count: proposersLimits.far)
    private var isFar = false
    /// Whether the bridge has described the engine on this connection.
    private var isDescribed = false
    /// The events of replies that were read, the last one first.
    private var events: [LogCursor.Event] = []
    /// Whether the follower may have received replies behind those.
    private var hasUnread = false
    /// Reports other than events, which come first.
    private var reports: [Report] = []
    /// How often the stream was lost since it was live.
    private var losses = 0
    /// How long the bridge took to answer proposals.
    private(set) var roundTrips = DurationHistogram()
    /// How far off the engine's clock may be, as the bridge has reported it last; nil before that.
    private(set) var clockError: Duration?
    /// When to connect again; nil while the log is followed.
    private var nextTry: BootInstant?
    /// When to ask the bridge whether it still works; nil while it is not connected.
    private var nextBeat: BootInstant?

    /// A link that is not connected.
    init(path: String, host: HostID, firstToken: UInt64, at now: BootInstant) {
        self.path = path
        self.host = host.text
        self.firstToken = firstToken
        nextTry = now
    }

    /// How many tokens its connections have.
    static let tokens = 1 + UInt64(proposersLimits.far)

    /// When something is due even if the bridge sends nothing.
    var next: BootInstant? {
        proposers.reduce(earliest(nextTry, nextBeat)) { next, proposer in
            earliest(next, proposer?.sent.map { $0.at + Self.patience })
        }
    }

    /// Whether it is time to follow the log, again or for the first time.
    func isTimeToConnect(at now: BootInstant) -> Bool { nextTry.map { $0 <= now } ?? false }

    /// Whether reports are left for the next turn.
    var hasReports: Bool { !reports.isEmpty || !events.isEmpty || hasUnread }

    // MARK: Following

    /// Follows the log on a new connection. Events of the present one are dropped.
    mutating func follow(_ opening: LogCursor.Opening, _ poller: inout Poller, at now: BootInstant) {
        (follower, isDescribed, events, hasUnread, nextTry) = (nil, false, [], false, nil)
        do throws(SystemFailure) {
            let connection = try BridgeConnection(to: path, token: firstToken, &poller)
            connection.call(Describe())
            let after = opening.after.map { Follow.Position(version: $0.version.number, id: $0.id?.text) }
            connection.call(Follow(after: after, host: host), more: true)
            follower = connection
            nextBeat = now + Self.heartbeat
        } catch {
            lose("\(path): \(error)", at: now)
        }
    }

    /// Gives the stream up, and connects again later.
    mutating func lose(_ reason: String, at now: BootInstant) {
        (follower, hasUnread, nextBeat) = (nil, false, nil)
        events.insert(.lost(reason), at: 0)
        losses += 1
        nextTry = now + Duration(microseconds: Backoff.delay(before: losses, upTo: Self.longestPause))
    }

    // MARK: Proposing

    /// Whether proposals can be sent now. If not, all connections are in use.
    var canPropose: Bool { idleIndex != nil }

    /// The number of proposals that were sent and have no answer.
    var proposalsInFlight: Int { proposers.reduce(0) { $0 + ($1?.sent?.proposals.count ?? 0) } }

    private var idleIndex: Int? {
        let limit = isFar ? Self.proposersLimits.far : Self.proposersLimits.near
        return proposers.prefix(limit).firstIndex { $0?.sent == nil }
    }

    /// Sends proposals. If the bridge cannot be reached, the next report says that they were not sent.
    mutating func propose(_ proposals: [Fleet.Proposal], _ poller: inout Poller, at now: BootInstant) {
        guard let index = idleIndex else { preconditionFailure("proposals are sent on an idle connection") }
        do throws(SystemFailure) {
            let token = firstToken + 1 + UInt64(index)
            if proposers[index] == nil {
                proposers[index] = Proposer(connection: try BridgeConnection(to: path, token: token, &poller))
            }
            proposers[index]?.sent = (proposals, now)
            proposers[index]?.connection.call(Propose(proposals: proposals.map(Propose.Proposal.init)))
        } catch {
            let reason = "\(path): \(error)"
            reports.append(.answers(proposals.map { _ in .unreachable(reason) }, to: proposals))
        }
    }

    /// Lets the bridge answer an empty call, if it is time to: otherwise nobody would notice that it hangs before the next change.
    mutating func beat(_ poller: inout Poller, at now: BootInstant) {
        guard let beat = nextBeat, beat <= now else { return }
        nextBeat = now + Self.heartbeat
        if proposers.allSatisfy({ $0?.sent == nil }) { propose([], &poller, at: now) }
    }

    // MARK: Receiving

    /// Sends and receives on a connection that is ready.
    mutating func exchange(_ readiness: Readiness, into buffer: inout [UInt8]) {
        let index = Int(readiness.token - firstToken)
        guard index == 0 else {
            proposers[index - 1]?.connection.exchange(readiness, into: &buffer)
            return
        }
        follower?.exchange(readiness, into: &buffer)
        // The stream leaves out the changes of this daemon: their answers were sent before, and must be read with it.
        guard readiness.isReadable else { return }
        for proposer in proposers where proposer?.sent != nil { proposer?.connection.receive(into: &buffer) }
    }

    /// Reads the received messages, and gives up connections that failed or take too long.
    mutating func read(at now: BootInstant) {
        for index in proposers.indices { readAnswers(at: index, now) }
        readEvents(at: now)
    }

    /// Registers the events of the connections with the poller.
    mutating func update(_ poller: inout Poller) {
        if let follower { follower.update(reading: events.isEmpty || !follower.isFull, &poller) }
        for proposer in proposers { proposer?.connection.update(reading: true, &poller) }
    }

    /// Takes the next report.
    ///
    /// - Parameter now: this instant.
    /// - Returns: nil if there is none.
    mutating func takeReport(at now: BootInstant) -> Report? {
        if reports.isEmpty { readEvents(at: now) }
        if !reports.isEmpty { return reports.removeFirst() }
        return events.popLast().map(Report.event)
    }

    private mutating func readAnswers(at index: Int, _ now: BootInstant) {
        guard let proposer = proposers[index] else { return }
        let connection = proposer.connection
        if let sent = proposer.sent {
            if let reply = connection.next() {
                if !sent.proposals.isEmpty {
                    roundTrips.add(now - sent.at)
                    isFar = now - sent.at > Self.nearRoundTrip
                }
                read(reply, to: sent.proposals, of: connection)
                proposers[index]?.sent = nil
            } else if sent.at + Self.patience <= now {
                connection.fail("the bridge does not answer")
            }
        }
        guard let reason = connection.failure else { return }
        if let sent = proposers[index]?.sent {
            reports.append(.answers(sent.proposals.map { _ in .unknown(reason) }, to: sent.proposals))
            // A bridge that does not answer proposals does not tell about changes, either.
            if sent.at + Self.patience <= now { follower?.fail(reason) }
        }
        proposers[index] = nil
    }

    private mutating func read(_ reply: Reply, to proposals: [Fleet.Proposal], of connection: BridgeConnection) {
        if let error = reply.error {
            let reason = (try? reply.parameter("reason", as: String.self)) ?? nil
            let text = error == BackendError.WireName.unreachable.rawValue ? reason ?? error : Self.text(ofError: error)
            return reports.append(.answers(proposals.map { _ in .unreachable(text) }, to: proposals))
        }
        do throws(InvalidReply) {
            let answer = try reply.decoded(Propose.Reply.init(from:))
            // The stream reports the clock, whenever that matters.
            if let clock = answer.clock { clockError = Duration(microseconds: clock.errorUSec) }
            var answers: [Fleet.Answer] = []
            for (answer, proposal) in zip(answer.answers, proposals) {
                answers.append(try Fleet.Answer(answer, to: proposal))
            }
            reports.append(.answers(answers, to: proposals))
        } catch {
            let reason = "the bridge's reply is invalid: \(error)"
            connection.fail(reason)
            reports.append(.answers(proposals.map { _ in .unknown(reason) }, to: proposals))
        }
    }

    /// An error that no bridge of this version gives.
    private static func text(ofError error: String) -> String {
        "the bridge answered with the error \(error); it may have another version than this daemon"
    }

    private mutating func readEvents(at now: BootInstant) {
        guard let follower else { return }
        while events.isEmpty {
            guard let reply = follower.next() else {
                hasUnread = false
                break
            }
            hasUnread = true
            do throws(InvalidReply) {
                try read(reply, at: now)
            } catch {
                follower.fail("the bridge's reply is invalid: \(error)")
            }
        }
        if let reason = follower.failure { lose(reason, at: now) }
    }

    private mutating func read(_ reply: Reply, at now: BootInstant) throws(InvalidReply) {
        if let error = reply.error {
            // The bridge has not reached the engine yet, and says so on the stream, too.
            guard error == BackendError.WireName.unreachable.rawValue else {
                throw InvalidReply(description: Self.text(ofError: error))
            }
            return
        }
        guard reply.continues else {
            isDescribed = true
            return reports.append(.described(try reply.decoded(Describe.Reply.init(from:))))
        }
        let (entries, news) = try reply.decoded { reader throws(InvalidParameter) in
            try Follow.Reply.read(from: &reader, entriesAs: [LogEntry].self)
        }
        if let clock = news.clock { try report(clock) }
        if news.state == .clock { reports.append(.refusal(news.reason)) }
        guard isDescribed || news.state == .lost || news.state == .clock else {
            // The bridge has reached the engine meanwhile, and can describe it.
            nextTry = now
            return
        }
        if news.state == .live { losses = 0 }
        events += try LogCursor.Event.events(of: news, entries).reversed()
    }

    private mutating func report(_ clock: EngineOffset) throws(InvalidReply) {
        // Far enough from the ends of the number line that no sum overflows, and later than 1970.
        guard (0..<1 << 52).contains(clock.engineLessBootUSec) else {
            throw InvalidReply(description: "the clock's offset \(clock.engineLessBootUSec)")
        }
        clockError = Duration(microseconds: clock.errorUSec)
        reports.append(.clock(clock))
    }
}
