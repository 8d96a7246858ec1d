import Varlink

/// The engine behind a backend, which the contract breaks and mends.
public protocol EngineController {
    /// Ends the engine at once; the backend loses its connection.
    func kill() throws
    /// Starts the engine again with everything that it had acknowledged.
    func restart() throws
    /// Stops the engine without ending it: connections stay, and nothing is answered.
    func freeze() throws
    /// Ends `freeze`.
    func thaw() throws
    /// Removes everything that the engine holds, as if it were another one.
    func loseEverything() throws
    /// Removes all but the last change of the log.
    func trimLog() throws
    /// Lets the engine refuse changes because it is full, or accept them again.
    func setFull(_ isFull: Bool) throws
}

/// What every backend promises. Each case needs an engine that holds nothing, and a backend that serves it on a socket.
public struct BackendContract {
    /// One promise.
    public struct Case: Sendable, CustomStringConvertible {
        /// A sentence.
        public let name: String
        let run: @Sendable (BackendContract) throws -> Void

        /// The sentence.
        public var description: String { name }

        /// Checks the promise of a backend.
        ///
        /// - Parameters:
        ///   - socket: the path of the backend's socket.
        ///   - engine: the engine behind it.
        /// - Throws: `ContractFailure` if the promise does not hold.
        public func check(socket: String, engine: any EngineController) throws {
            let contract = BackendContract(socket: socket, engine: engine)
            try contract.waitUntilLive()
            try run(contract)
        }
    }

    let socket: String
    let engine: any EngineController

    /// All promises.
    public static let cases: [Case] = [
        Case(name: "a proposal wins, and the same one wins again with the same version") { try $0.resend() },
        Case(name: "a proposal on an outdated id conflicts, and the reply has the record") { try $0.conflict() },
        Case(name: "a proposal outside its window is early or late, and changes nothing") { try $0.windows() },
        Case(name: "a confirmation holds or conflicts, and changes nothing") { try $0.confirm() },
        Case(name: "the proposals of a call build on each other, and versions have no gaps") { try $0.chain() },
        Case(name: "of 50 proposals for a key one wins") { try $0.singleWinner() },
        Case(name: "10,000 proposals that are sent at once are all answered, in order") { try $0.manyProposals() },
        Case(name: "invalid parameters are named") { try $0.invalidParameters() },
        Case(name: "a follower gets a snapshot, then every change in order") { try $0.follow() },
        Case(name: "a follower resumes at its last change") { try $0.resume() },
        Case(name: "a follower behind a log that was trimmed gets a snapshot") { try $0.trimmed() },
        Case(name: "a follower whose change the engine does not have diverges") { try $0.otherHistory() },
        Case(name: "a live follower of an engine that came back empty diverges") { try $0.emptyEngine() },
        Case(name: "a follower that does not read gets every change when it reads") { try $0.slowFollower() },
        Case(name: "a follower that does not read while the log is trimmed gets a snapshot") {
            try $0.slowAndTrimmed()
        },
        Case(name: "a snapshot that is interrupted begins again") { try $0.interruptedSnapshot() },
        Case(name: "a snapshot has every record once at least") { try $0.largeSnapshot() },
        Case(name: "a full engine refuses changes and holds confirmations") { try $0.full() },
        Case(name: "an engine that is killed and restarted has lost nothing") { try $0.killed() },
        Case(name: "a proposal to an engine that does not answer is unknown, and is made once") { try $0.frozen() },
        Case(name: "the clock of a reply is the engine's clock") { try $0.clock() },
    ]

    // MARK: Helpers

    private func expect(_ condition: Bool, _ found: @autoclosure () -> String) throws {
        guard condition else { throw ContractFailure(found()) }
    }

    private func waitUntilLive() throws {
        let client = try BackendClient(socket)
        try client.follow()
        _ = try client.updates(until: "live")
    }

    private func expect(_ answer: ContractAnswer, is outcome: String) throws {
        try expect(answer.outcome == outcome, "\(answer) instead of \(outcome)")
    }

    private func win(_ client: BackendClient, _ proposal: ContractProposal) throws -> Int64 {
        let answer = try client.propose(proposal)
        guard answer.outcome == "won", let version = answer.version else {
            throw ContractFailure("\(answer) instead of won")
        }
        return version
    }

    /// Reads changes until one has this version.
    ///
    /// - Returns: the changes, which are checked to follow each other.
    private func changes(_ client: BackendClient, after first: Int64, to last: Int64) throws -> [ContractEntry] {
        var entries: [ContractEntry] = []
        while (entries.last?.version ?? first) < last {
            let update = try client.update()
            guard ["changes", "live", "clock"].contains(update.state) else { throw ContractFailure("\(update)") }
            entries += update.entries
        }
        for (index, entry) in entries.enumerated() {
            try expect(
                entry.version == first + 1 + Int64(index),
                "version \(entry.version) at place \(index) after \(first)"
            )
        }
        return entries
    }

    // MARK: Proposals

    private func resend() throws {
        let client = try BackendClient(socket)
        let version = try win(client, ContractProposal("k", "x.1"))
        let other = try BackendClient(socket)
        try expect(try win(other, ContractProposal("k", "x.1")) == version, "another version")
        try expect(try win(client, ContractProposal("k", "x.2", after: "x.1")) == version + 1, "not the next version")
    }

    private func conflict() throws {
        let client = try BackendClient(socket)
        let version = try win(client, ContractProposal("k", "x.1", record: "{\"label\":\"a \\\"b\\\" ü\"}"))
        let answer = try client.propose(ContractProposal("k", "y.1"))
        try expect(answer, is: "conflict")
        try expect(answer.version == version && answer.id == "x.1", "\(answer)")
        try expect(answer.record == "{\"label\":\"a \\\"b\\\" ü\"}", "\(answer)")
        let none = try client.propose(ContractProposal("other", "y.2", after: "x.1"))
        try expect(none == ContractAnswer("conflict"), "\(none)")
    }

    private func windows() throws {
        let client = try BackendClient(socket)
        try expect(client.propose(ContractProposal("k", "x.1", window: (1 << 52)...(1 << 53))), is: "early")
        try expect(client.propose(ContractProposal("k", "x.2", window: 0...1)), is: "late")
        try expect(
            client.propose(ContractProposal("k", "x.3", window: (1 << 52)...(1 << 53), record: nil)),
            is: "early"
        )
        try expect(
            client.propose(ContractProposal("k", "x.4", record: nil)) == ContractAnswer("won"),
            "it has a record"
        )
    }

    private func confirm() throws {
        let client = try BackendClient(socket)
        let version = try win(client, ContractProposal("k", "x.1"))
        let confirmed = try client.propose(ContractProposal("k", "x.2", after: "x.1", record: nil))
        try expect(confirmed.outcome == "won" && confirmed.version == version, "\(confirmed)")
        try expect(client.propose(ContractProposal("k", "x.3", after: "x.0", record: nil)), is: "conflict")
        try expect(client.propose(ContractProposal("k", "x.4", record: nil)), is: "conflict")
        try expect(try win(client, ContractProposal("k", "x.5", after: "x.1")) == version + 1, "not the next version")
    }

    private func chain() throws {
        let client = try BackendClient(socket)
        let proposals = (0..<64).map { ContractProposal("k", "x.\($0)", after: $0 == 0 ? "" : "x.\($0 - 1)") }
        let answers = try client.propose(proposals)
        try expect(answers.count == 64, "\(answers.count) answers")
        let first = answers[0].version ?? 0
        for (index, answer) in answers.enumerated() {
            try expect(answer.outcome == "won" && answer.version == first + Int64(index), "\(answer) at \(index)")
        }
        // If one does not win, those behind it do not either, and other keys are not concerned.
        let mixed = try client.propose([
            ContractProposal("k", "y.1", after: "x.0"), ContractProposal("k", "y.2", after: "y.1"),
            ContractProposal("l", "y.3"),
        ])
        try expect(mixed.map(\.outcome) == ["conflict", "conflict", "won"], "\(mixed)")
        try expect(mixed[2].version == first + 64, "a conflict has taken a version")
    }

    private func singleWinner() throws {
        let clients = try (0..<50).map { _ in try BackendClient(socket) }
        for (index, client) in clients.enumerated() { try client.sendProposals([ContractProposal("k", "h\(index).1")]) }
        let answers = try clients.flatMap { try $0.answers() }
        let winner = answers.firstIndex { $0.outcome == "won" } ?? 0
        for (index, answer) in answers.enumerated() where index != winner {
            try expect(answer.outcome == "conflict" && answer.id == "h\(winner).1", "\(answer)")
        }
    }

    private func manyProposals() throws {
        let client = try BackendClient(socket)
        for number in 0..<10_000 {
            try client.sendProposals([ContractProposal("k\(number % 100)/\(number)", "x.\(number)")])
        }
        var last: Int64?
        for number in 0..<10_000 {
            let answers = try client.answers()
            try expect(answers.count == 1 && answers[0].outcome == "won", "\(answers) to \(number)")
            try expect(last.map { $0 + 1 == answers[0].version } ?? true, "\(answers) to \(number), after \(last ?? 0)")
            last = answers[0].version
        }
    }

    private func invalidParameters() throws {
        let client = try BackendClient(socket)
        func parameter(_ proposal: ContractProposal, shard: Int64 = 0) throws -> String? {
            try client.sendProposals([proposal], shard: shard)
            return try client.reply().parameter("parameter")
        }
        try expect(try parameter(ContractProposal("", "x.1")) == "key", "an empty key is accepted")
        try expect(try parameter(ContractProposal("a\nb", "x.1")) == "key", "a control character is accepted")
        try expect(try parameter(ContractProposal("k", "x 1")) == "id", "whitespace in an id is accepted")
        try expect(try parameter(ContractProposal("k", "x.1", record: "[]")) == "record", "an array is accepted")
        try expect(try parameter(ContractProposal("k", "x.1", record: "{\n}")) == "record", "a line end is accepted")
        let long = "{\"label\":\"\(String(repeating: "l", count: 64 << 10))\"}"
        try expect(try parameter(ContractProposal("k", "x.1", record: long)) == "record", "a long record is accepted")
        try expect(try parameter(ContractProposal("k", "x.1"), shard: 1) == "shard", "a second shard is accepted")
        try client.sendProposals((0...64).map { ContractProposal("k", "x.\($0)") })
        let name: String? = try client.reply().parameter("parameter")
        try expect(name == "proposals", "65 proposals are accepted")
        let follower = try BackendClient(socket)
        try follower.follow(after: -1)
        let after: String? = try follower.reply().parameter("parameter")
        try expect(after == "after", "a negative version is accepted")
        try client.send("Follow") { $0.member("shard", 0) }
        let error = try client.reply().error ?? "nothing"
        try expect(error == "org.varlink.service.ExpectedMore", "\(error) instead of ExpectedMore")
    }

    // MARK: Followers

    private func follow() throws {
        let client = try BackendClient(socket)
        let first = try win(client, ContractProposal("a", "x.1"))
        _ = try win(client, ContractProposal("b", "x.2"))
        let follower = try BackendClient(socket)
        try follower.follow()
        let updates = try follower.updates(until: "live")
        let records = updates.filter { $0.state == "page" }.flatMap(\.entries)
        try expect(Set(records.map(\.id)) == ["x.1", "x.2"], "\(records)")
        try expect(updates.last?.version == first + 1 && updates.last?.id == "x.2", "\(updates)")
        try expect(updates.first?.clock != nil, "no clock in \(updates)")
        _ = try client.propose([ContractProposal("a", "x.3", after: "x.1"), ContractProposal("c", "x.4")])
        _ = try win(client, ContractProposal("c", "x.5", after: "x.4"))
        let changes = try changes(follower, after: first + 1, to: first + 4)
        try expect(changes.map(\.id) == ["x.3", "x.4", "x.5"] && changes.map(\.key) == ["a", "c", "c"], "\(changes)")
        try expect(changes.allSatisfy { $0.record == "{\"kind\":\"started\"}" }, "\(changes)")
    }

    private func resume() throws {
        let client = try BackendClient(socket)
        let first = try win(client, ContractProposal("a", "x.1"))
        for number in 2...5 { _ = try win(client, ContractProposal("a", "x.\(number)", after: "x.\(number - 1)")) }
        let follower = try BackendClient(socket)
        try follower.follow(after: first, id: "x.1")
        let updates = try follower.updates(until: "live")
        try expect(updates.first?.state == "resumed", "\(updates)")
        try expect(updates.flatMap(\.entries).map(\.id) == ["x.2", "x.3", "x.4", "x.5"], "\(updates)")
        let level = try BackendClient(socket)
        try level.follow(after: first + 4, id: "x.5")
        let quiet = try level.updates(until: "live")
        try expect(quiet.map(\.state) == ["resumed", "live"], "\(quiet)")
        _ = try win(client, ContractProposal("a", "x.6", after: "x.5"))
        try expect(try changes(level, after: first + 4, to: first + 5).map(\.id) == ["x.6"], "another change")
    }

    private func trimmed() throws {
        let client = try BackendClient(socket)
        let first = try win(client, ContractProposal("a", "x.1"))
        for number in 2...5 { _ = try win(client, ContractProposal("a", "x.\(number)", after: "x.\(number - 1)")) }
        try engine.trimLog()
        try expectSnapshot(after: first, "x.1", announcedBy: "trimmed", of: ["x.5"])
    }

    /// Follows from a change, and expects a state and then a snapshot of records with these ids.
    private func expectSnapshot(
        after version: Int64,
        _ id: String,
        announcedBy state: String,
        of ids: Set<String>
    ) throws {
        let follower = try BackendClient(socket)
        try follower.follow(after: version, id: id)
        let updates = try follower.updates(until: "live")
        try expect(updates.first?.state == state && updates.first?.reason != nil, "\(updates) instead of \(state)")
        try expect(Set(updates.filter { $0.state == "page" }.flatMap(\.entries).map(\.id)) == ids, "\(updates)")
    }

    private func otherHistory() throws {
        let client = try BackendClient(socket)
        let version = try win(client, ContractProposal("a", "x.1"))
        try expectSnapshot(after: version, "other.1", announcedBy: "diverged", of: ["x.1"])
        try expectSnapshot(after: version + 1, "x.2", announcedBy: "diverged", of: ["x.1"])
        try engine.loseEverything()
        try expectSnapshot(after: version, "x.1", announcedBy: "diverged", of: [])
        let new = try win(client, ContractProposal("a", "y.1"))
        try expect(new > version, "version \(new) after \(version)")
        try expectSnapshot(after: version, "x.1", announcedBy: "diverged", of: ["y.1"])
    }

    private func emptyEngine() throws {
        let client = try BackendClient(socket)
        _ = try win(client, ContractProposal("a", "x.1"))
        let follower = try BackendClient(socket)
        try follower.follow()
        _ = try follower.updates(until: "live")
        try engine.loseEverything()
        _ = try win(client, ContractProposal("b", "x.2"))
        let updates = try follower.updates(until: "live")
        try expect(updates.first?.state == "diverged", "\(updates)")
        try expect(updates.filter { $0.state == "page" }.flatMap(\.entries).map(\.id) == ["x.2"], "\(updates)")
        let version = try win(client, ContractProposal("b", "x.3", after: "x.2"))
        try expect(try changes(follower, after: version - 1, to: version).map(\.id) == ["x.3"], "another change")
    }

    /// Changes a key 5,120 times, to more than 10 MiB of changes.
    ///
    /// - Returns: the version before these changes.
    private func makeManyChanges(of client: BackendClient, _ body: () throws -> Void) throws -> Int64 {
        let first = try win(client, ContractProposal("a", "x.0"))
        try body()
        for batch in 0..<80 {
            let answers = try client.propose(
                (1...64).map { place in
                    let number = batch * 64 + place
                    return ContractProposal("a", "x.\(number)", after: "x.\(number - 1)", record: Self.largeRecord)
                }
            )
            try expect(answers.allSatisfy { $0.outcome == "won" }, "\(answers)")
        }
        return first
    }

    private static let largeRecord = "{\"label\":\"\(String(repeating: "l", count: 2_000))\"}"

    private func slowFollower() throws {
        let follower = try BackendClient(socket)
        let first = try makeManyChanges(of: BackendClient(socket)) {
            try follower.follow()
            _ = try follower.updates(until: "live")
        }
        let changes = try changes(follower, after: first, to: first + 5_120)
        try expect(changes.last?.id == "x.5120", "\(changes.last?.id ?? "nothing")")
    }

    private func slowAndTrimmed() throws {
        let follower = try BackendClient(socket)
        let first = try makeManyChanges(of: BackendClient(socket)) {
            try follower.follow()
            _ = try follower.updates(until: "live")
        }
        try engine.trimLog()
        let changes = try follower.updates(until: "trimmed").flatMap(\.entries)
        for (index, entry) in changes.enumerated() {
            try expect(entry.version == first + 1 + Int64(index), "version \(entry.version) at place \(index)")
        }
        let snapshot = try follower.updates(until: "live")
        try expect(snapshot.flatMap(\.entries).map(\.id) == ["x.5120"], "\(snapshot)")
    }

    private func interruptedSnapshot() throws {
        let client = try BackendClient(socket)
        for batch in 0..<80 {
            let proposals = (0..<64).map {
                ContractProposal("k\(batch)/\($0)", "x.\(batch * 64 + $0)", record: Self.largeRecord)
            }
            let answers = try client.propose(proposals)
            try expect(answers.allSatisfy { $0.outcome == "won" }, "\(answers)")
        }
        let follower = try BackendClient(socket)
        try follower.follow(after: 1, id: "other.1")
        let state = try follower.update().state
        try expect(state == "diverged", "\(state) instead of diverged")
        try engine.kill()
        try engine.restart()
        let pages = try follower.updates(until: "lost").dropLast()
        try expect(pages.allSatisfy { $0.state == "page" }, "something else than pages")
        try expect(pages.flatMap(\.entries).count < 5_120, "the snapshot was not interrupted")
        let again = try follower.updates(until: "live")
        try expect(again.first?.state == "diverged", "\(again.first?.state ?? "nothing") instead of diverged")
        let records = again.filter { $0.state == "page" }.flatMap(\.entries)
        try expect(Set(records.map(\.key)).count == 5_120, "records are missing")
    }

    private func largeSnapshot() throws {
        let client = try BackendClient(socket)
        for batch in 0..<100 {
            let proposals = (0..<64).map { ContractProposal("k\(batch)/\($0)", "x.\(batch * 64 + $0)") }
            let answers = try client.propose(proposals)
            try expect(answers.allSatisfy { $0.outcome == "won" }, "\(answers)")
        }
        let follower = try BackendClient(socket)
        try follower.follow()
        let pages = try follower.updates(until: "live").filter { $0.state == "page" }
        try expect(pages.count > 1, "one page of 6,400 records")
        try expect(Set(pages.flatMap(\.entries).map(\.key)).count == 6_400, "records are missing")
    }

    // MARK: Faults

    private func full() throws {
        let client = try BackendClient(socket)
        let version = try win(client, ContractProposal("a", "x.1"))
        try engine.setFull(true)
        let answers = try client.propose([
            ContractProposal("a", "x.2", after: "x.1", record: nil), ContractProposal("b", "x.3"),
            ContractProposal("a", "x.4", after: "x.1", record: nil), ContractProposal("a", "x.5", record: nil),
        ])
        try expect(answers.map(\.outcome) == ["won", "unreachable", "won", "conflict"], "\(answers)")
        try expect(answers[1].reason != nil, "no reason")
        try engine.setFull(false)
        try expect(try win(client, ContractProposal("b", "x.3")) == version + 1, "a refused change has taken a version")
    }

    private func killed() throws {
        let client = try BackendClient(socket)
        let version = try win(client, ContractProposal("a", "x.1"))
        let follower = try BackendClient(socket)
        try follower.follow()
        _ = try follower.updates(until: "live")
        try engine.kill()
        let lost = try follower.update()
        try expect(lost.state == "lost" && lost.reason != nil, "\(lost) instead of lost")
        let answers = try client.propose([ContractProposal("b", "x.2"), ContractProposal("a", "x.3", record: nil)])
        try expect(answers.allSatisfy { $0.outcome == "unreachable" && $0.reason != nil }, "\(answers)")
        let late = try BackendClient(socket)
        try late.follow(after: version, id: "x.1")
        try expect(try late.update().state == "lost", "a follower is not told that the engine is lost")
        try engine.restart()
        for client in [follower, late] {
            let updates = try client.updates(until: "live")
            try expect(updates.map(\.state) == ["resumed", "live"], "\(updates)")
        }
        try expect(try win(client, ContractProposal("a", "x.1")) == version, "the change is lost")
        try expect(try win(client, ContractProposal("b", "x.2")) == version + 1, "not the next version")
    }

    private func frozen() throws {
        let client = try BackendClient(socket)
        let version = try win(client, ContractProposal("a", "x.1"))
        try engine.freeze()
        let answer = try client.propose(ContractProposal("a", "x.2", after: "x.1"))
        try expect(answer.outcome == "unknown" && answer.reason != nil, "\(answer) instead of unknown")
        let confirmed = try client.propose(ContractProposal("a", "x.3", after: "x.1", record: nil))
        try expect(confirmed.outcome == "unreachable", "\(confirmed) instead of unreachable")
        try engine.thaw()
        try waitUntilLive()
        try expect(try win(client, ContractProposal("a", "x.2", after: "x.1")) == version + 1, "it was made twice")
    }

    private func clock() throws {
        let client = try BackendClient(socket)
        try client.sendProposals([ContractProposal("a", "x.1")])
        let reply = try client.reply()
        guard let clock: ContractClock = try reply.parameter("clock") else { throw ContractFailure("no clock") }
        try expect(clock.error > 0 && clock.error < 10_000_000, "\(clock)")
        // The engine agrees about what is past and what is ahead, but for the error of the clock.
        let now = clock.now
        try expect(
            client.propose(ContractProposal("b", "x.2", window: (now - 60_000_000)...(now + 60_000_000))),
            is: "won"
        )
        try expect(client.propose(ContractProposal("c", "x.3", window: 0...(now - 60_000_000))), is: "late")
        let ahead = (now + 60_000_000)...(now + 120_000_000)
        try expect(client.propose(ContractProposal("c", "x.4", window: ahead)), is: "early")
    }
}

extension ContractAnswer {
    /// An answer with an outcome and nothing else.
    fileprivate init(_ outcome: String) { self.outcome = outcome }
}
