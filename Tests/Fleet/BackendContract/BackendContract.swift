import FleetWire

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

/// The promises of every backend. Each case must have an empty engine, and a backend that serves it on a socket.
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
        Case(name: "a follower that names its host gets every change but those that it has won") {
            try $0.ownChanges()
        },
        Case(name: "a follower resumes at its last change") { try $0.resume() },
        Case(name: "a follower of an engine that holds nothing has a place in the log") { try $0.empty() },
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

    func expect(_ condition: Bool, _ found: @autoclosure () -> String) throws {
        guard condition else { throw ContractFailure(found()) }
    }

    func waitUntilLive() throws { _ = try BackendClient(following: socket) }

    func expect(_ answer: Propose.Answer, is outcome: Propose.Outcome) throws {
        try expect(answer.outcome == outcome, "\(answer) instead of \(outcome)")
    }

    func win(_ client: BackendClient, _ proposal: Propose.Proposal) throws -> Int64 {
        let answer = try client.propose(proposal)
        guard answer.outcome == .won, let version = answer.version else {
            throw ContractFailure("\(answer) instead of won")
        }
        return version
    }

    /// Reads changes until one has this version.
    ///
    /// - Returns: the changes, which are checked to follow each other.
    func changes(_ client: BackendClient, after first: Int64, to last: Int64) throws -> [Follow.Entry] {
        var entries: [Follow.Entry] = []
        while (entries.last?.version ?? first) < last {
            let update = try client.update()
            guard [.changes, .live, .clock].contains(update.state) else { throw ContractFailure("\(update)") }
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
}
