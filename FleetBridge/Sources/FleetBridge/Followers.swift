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

    /// The offset of the engine's clock has moved, or the engine begins or ceases to refuse changes.
    func report() { for follower in followers.values { follower.report() } }

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

    /// Reads the version of the log. It looks at records that are chosen at random. If one of them is missing, records are lost: then
    /// the log gets a new origin, so that every follower reads the records that are left. It also writes the version again, to
    /// find out whether the engine makes changes.
    ///
    /// Replies with the version, and the words of the engine if it has refused the write.
    private static let versionScript = """
        local function isLost(key) return key and not redis.call('HGET', KEYS[3], key) end
        local function at(rank) return redis.call('ZRANGE', KEYS[2], rank, rank)[1] end
        local time = redis.call('TIME')
        local count, step = 0, 2 ^ 24
        while step >= 1 do
            if at(count + step - 1) then count = count + step end
            step = step / 2
        end
        local isAnyLost = isLost(at(-1))
        local seed = (time[1] * 1000000 + time[2]) % 2147483646 + 1
        for _ = 1, math.min(count, 32) do
            seed = seed * 16807 % 2147483647
            isAnyLost = isAnyLost or isLost(at(seed % count))
        end
        if isAnyLost then
            local version = math.max(time[1] * 1000000 + time[2], (redis.call('GET', KEYS[1]) or 0) + 1)
            for place = 4, 1, -3 do redis.call('SET', KEYS[place], string.format('%.0f', version)) end
            for _, key in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
                if isLost(key) then redis.call('ZREM', KEYS[2], key) end
            end
        end
        local version = redis.call('GET', KEYS[1])
        local written = version and redis.pcall('SET', KEYS[1], version)
        return {version, type(written) == 'table' and written.err or ''}
        """

    /// Compares the version of the log with the last change of each follower, and finds out whether the engine makes changes.
    func checkVersion(_ session: EngineSession) {
        let keys = engine.keys
        let command: RESPCommand = ["EVAL", Self.versionScript, "4", keys.version, keys.due, keys.now, keys.origin]
        session.queries.send(command) { reply in
            guard case .success(let value) = reply else { return }
            if case .error(let words) = value { return self.engine.note(refusal: words, of: command.name) }
            guard let parts = value.elements, parts.count == 2 else { return }
            for follower in self.followers.values { follower.check(version: parts[0].number) }
            if let words = parts[1].text, !words.isEmpty {
                self.engine.note(refusal: words, of: "SET")
            } else {
                self.engine.noteAcceptance()
            }
        }
    }
}
