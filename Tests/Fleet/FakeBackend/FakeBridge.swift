import FleetWire
import Glibc
import ModelEngine
import System
import TestSupport

/// The descriptors and the first deadline that the thread waits for.
struct Awaited: Sendable {
    var descriptors: [(Int32, Int16)] = []
    var deadline: MonotonicDeadline?

    mutating func add(_ deadline: MonotonicDeadline) { self.deadline = min(self.deadline ?? deadline, deadline) }
}

/// The state of a fake bridge and its engine, and their work in one iteration of the thread.
struct FakeBridge {
    typealias Engine = FakeBackend.Engine

    /// How long the bridge waits for an engine that does not answer, in microseconds.
    private static let patience: Int64 = 1_000_000

    var engine = Engine(at: WallClock.now)
    var faults = FakeBackend.Faults()
    private(set) var calls = FakeBackend.Calls()
    /// The IDs of changes that were answered as won at once.
    private(set) var won: Set<String> = []
    /// Whether the engine answers nothing.
    var isFrozen = false
    /// Whether nobody needs the bridge any more.
    var hasEnded = false
    private var accesses: [Access]
    /// Measured once, so that it does not vary.
    private let clockOffset = WallClock.now - BootClock.now
    private var clockShift: Int64 = 0
    private var connections: [FakeConnection] = []
    /// The commands that a frozen engine has received.
    private var received: [Received] = []
    private var givesUp: MonotonicDeadline?

    /// One of the bridges to the engine.
    private struct Access {
        var listener: ListeningSocket?
        /// Why the engine cannot be reached; nil if it is.
        var failure: String?
    }

    private struct Received {
        let proposals: [Propose.Proposal]
        let connection: FakeConnection
        var isAnswered = false

        var bridge: Int { connection.bridge }
    }

    init(listeners: [ListeningSocket]) { accesses = listeners.map { Access(listener: $0) } }

    // MARK: The thread

    /// The events for which the thread waits; nil if it should end.
    var awaited: Awaited? {
        guard !hasEnded else { return nil }
        var awaited = Awaited(deadline: givesUp)
        for listener in accesses.compactMap(\.listener) {
            awaited.descriptors.append((listener.descriptor, Int16(POLLIN)))
        }
        guard !faults.answersNothing else { return awaited }
        for connection in connections { connection.add(to: &awaited) }
        return awaited
    }

    /// Accepts, reads, answers and writes.
    mutating func turn() {
        accept()
        if let givesUp, givesUp.hasPassed { lose("the engine has not answered for 1 s", bridges) }
        proceed()
    }

    /// Carries out the calls that have come, and sends as much as can be sent.
    mutating func proceed() {
        guard !faults.answersNothing else { return }
        for connection in connections {
            connection.receive()
            while let call = connection.nextCall() { answer(call, on: connection) }
        }
        for connection in connections {
            var isThrottled = true
            while isThrottled {
                isThrottled = connection.follower?.proceed(self, on: connection) ?? false
                connection.send()
                if connection.isFull { break }
            }
        }
        connections.removeAll { $0.isClosed }
    }

    private mutating func accept() {
        for (bridge, access) in accesses.enumerated() {
            guard let listener = access.listener else { continue }
            while let connection = FakeConnection(acceptedBy: listener, of: bridge) { connections.append(connection) }
        }
    }

    // MARK: Calls

    private mutating func answer(_ call: FakeConnection.Request, on connection: FakeConnection) {
        switch call {
        case .propose(let propose): answer(propose, on: connection)
        case .follow(let follow):
            calls.follows.append(follow)
            connection.follower = FakeFollower(follow)
            if let failure = failure(of: connection) {
                connection.deliver(Follow.Reply(state: .lost, reason: failure), faults)
            }
        case .describe:
            connection.reply(
                Describe.Reply(
                    engine: "Fake 1",
                    namespace: "fleet",
                    shards: 1,
                    retentionUSec: 600_000_000,
                    marginUSec: 50_000,
                    countdowns: 4_000_000,
                    acknowledgements: 0,
                    version: "0"
                )
            )
        }
    }

    private mutating func answer(_ propose: Propose, on connection: FakeConnection) {
        calls.changes += propose.proposals.count { $0.record != nil }
        if let failure = failure(of: connection) {
            return reply(propose.proposals.map { _ in .unreachable(reason: failure) }, on: connection)
        }
        guard !isFrozen else {
            received.append(Received(proposals: propose.proposals, connection: connection))
            givesUp = givesUp ?? .after(microseconds: Self.patience)
            return
        }
        let answers = carryOut(propose.proposals)
        guard faults.lostReplies == 0 else {
            faults.lostReplies -= 1
            return connection.shutDown()
        }
        reply(answers, on: connection)
        guard faults.answers == nil, faults.rawReply == nil, faults.replyDelay == 0 else { return }
        for (answer, proposal) in zip(answers, propose.proposals) where proposal.record != nil {
            if case .won = answer { won.insert(proposal.id) }
        }
    }

    private func reply(_ answers: [Propose.Answer], on connection: FakeConnection) {
        if let bytes = faults.rawReply { return connection.reply(raw: bytes) }
        let reply = Propose.Reply(answers: faults.answers?(answers) ?? answers, clock: clock)
        connection.reply(reply, after: faults.replyDelay)
    }

    /// Lets the engine carry out proposals, whatever state it is in.
    mutating func carryOut(_ proposals: [Propose.Proposal]) -> [Propose.Answer] {
        let answers = engine.propose(
            proposals.map { proposal in
                Engine.Proposal(
                    key: proposal.key,
                    expected: proposal.expected.isEmpty ? nil : proposal.expected,
                    notBefore: proposal.notBeforeUSec,
                    notAfter: proposal.notAfterUSec,
                    due: proposal.dueUSec,
                    id: proposal.id,
                    record: proposal.record
                )
            },
            at: now
        )
        return answers.map(answer)
    }

    private func answer(_ answer: Engine.Answer) -> Propose.Answer {
        switch answer {
        case .won(let version): .won(version: version)
        case .conflict(let held?): .conflict(version: held.version, id: held.id, record: held.record)
        case .conflict(nil): .noRecord
        case .early: .early
        case .late: .late
        case .refused: .unreachable(reason: "the engine is full")
        }
    }

    // MARK: The engine

    private var now: Int64 { BootClock.now + clockOffset + clockShift }

    /// The engine's clock; the error is one that a bridge would have measured.
    var clock: EngineOffset {
        EngineOffset(engineLessBootUSec: clockOffset + clockShift, errorUSec: 100)
    }

    /// Why the engine cannot be reached by a client; nil if it is.
    func failure(of connection: FakeConnection) -> String? { accesses[connection.bridge].failure }

    mutating func forgetEverything() { engine = Engine(at: now) }

    /// Bridges lose the engine.
    mutating func lose(_ reason: String, _ bridges: Range<Int>) {
        for bridge in bridges { accesses[bridge].failure = reason }
        givesUp = nil
        for connection in connections where bridges.contains(connection.bridge) && connection.follower != nil {
            connection.follower?.stop()
            connection.deliver(Follow.Reply(state: .lost, reason: reason), faults)
        }
        for index in received.indices where !received[index].isAnswered && bridges.contains(received[index].bridge) {
            received[index].isAnswered = true
            let answers = received[index].proposals.map { proposal -> Propose.Answer in
                proposal.record == nil ? .unreachable(reason: reason) : .unknown(reason: reason)
            }
            reply(answers, on: received[index].connection)
        }
    }

    /// Bridges reach the engine again.
    mutating func reach(_ bridges: Range<Int>) {
        for bridge in bridges { accesses[bridge].failure = nil }
    }

    var bridges: Range<Int> { accesses.indices }

    /// A frozen engine goes on with the calls that it has received.
    mutating func thaw() {
        isFrozen = false
        givesUp = nil
        let calls = received
        received = []
        for call in calls {
            let answers = carryOut(call.proposals)
            if !call.isAnswered { reply(answers, on: call.connection) }
        }
        reach(bridges)
    }

    mutating func setClock(ahead microseconds: Int64) {
        clockShift = microseconds
        for connection in connections where connection.follower != nil && failure(of: connection) == nil {
            connection.deliver(Follow.Reply(state: .clock, clock: clock), faults)
        }
    }

    // MARK: The bridge

    /// Sends a reply to every follower.
    func deliver(_ reply: Follow.Reply) {
        for connection in connections where connection.follower != nil { connection.deliver(reply, faults) }
    }

    func closeConnections(of bridges: Range<Int>) {
        for connection in connections where bridges.contains(connection.bridge) { connection.shutDown() }
    }

    mutating func stop(_ bridge: Int) {
        accesses[bridge].listener = nil
        closeConnections(of: bridge..<bridge + 1)
    }

    mutating func start(_ bridge: Int, _ listener: ListeningSocket) { accesses[bridge].listener = listener }
}
