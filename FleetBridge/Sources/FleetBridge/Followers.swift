import FleetWire
import NIOCore
import RESP

/// The followers of this bridge, and the messages of the channel, which all of them get.
@BridgeLoop
final class Followers {
    /// The messages that wait for answers, at most.
    private static let heldMessages = 1_000

    private let engine: Supervisor
    private var followers: [ObjectIdentifier: Follower] = [:]
    /// The messages that are not delivered yet.
    private var messages: [String] = []
    /// Whether the engine is about to answer changes of this bridge's clients.
    private let isAwaitingAnswers: () -> Bool

    init(of engine: Supervisor, isAwaitingAnswers: @escaping () -> Bool) {
        self.engine = engine
        self.isAwaitingAnswers = isAwaitingAnswers
    }

    /// Begins to follow.
    func add(_ follower: Follower) {
        followers[ObjectIdentifier(follower)] = follower
        if engine.session == nil { follower.stop(engine.failure) } else { follower.start() }
    }

    /// Ends to follow.
    func remove(_ follower: Follower) { followers[ObjectIdentifier(follower)] = nil }

    /// The engine is connected.
    func start() { for follower in followers.values { follower.start() } }

    /// The engine is lost, or was not reached yet.
    func stop(_ reason: String) {
        messages = []
        for follower in followers.values { follower.stop(reason) }
    }

    /// The offset of the engine's clock has moved.
    func clockMoved(_ offset: EngineOffset) { for follower in followers.values { follower.clockMoved(offset) } }

    /// A client was sent the answers to its proposals.
    func noteAnswers(_ answers: [Propose.Answer], to proposals: [Propose.Proposal]) {
        for (answer, proposal) in zip(answers, proposals) where proposal.record != nil {
            guard case .won(let version?) = answer else { continue }
            for follower in followers.values { follower.noteWon(proposal.id, version: version) }
        }
    }

    /// Keeps a message until the end of this iteration of the loop.
    func receive(_ message: String) {
        if messages.isEmpty || messages.count == Self.heldMessages { BridgeLoop.runSoon { self.deliverMessages() } }
        messages.append(message)
    }

    /// Delivers messages in their order. The answer to a change and its message come on two connections, one right after the
    /// other. The message of an own change waits for the answer, because followers leave out answered changes.
    func deliverMessages() {
        var count = 0
        for text in messages {
            let mayWait = isAwaitingAnswers() && messages.count <= Self.heldMessages
            if mayWait, followers.values.contains(where: { $0.expectsAnswer(for: text) }) { break }
            count += 1
            for follower in followers.values { follower.receive(text) }
        }
        messages.removeFirst(min(count, messages.count))
    }

    // MARK: The version

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

    /// Compares the version of the log with the last change of each follower.
    func checkVersion(_ session: EngineSession) {
        let keys = engine.keys
        let command: RESPCommand = ["EVAL", Self.versionScript, "4", keys.version, keys.due, keys.now, keys.origin]
        session.queries.send(command) { reply in
            guard case .success(let value) = reply else { return }
            if case .error = value { return }
            for follower in self.followers.values { follower.check(version: value.number) }
        }
    }
}
