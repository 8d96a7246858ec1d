import FleetWire
import Varlink

/// The cases of proposals without faults.
extension BackendContract {
    func resend() throws {
        let client = try BackendClient(socket)
        let version = try win(client, Propose.Proposal("k", "x.1"))
        let other = try BackendClient(socket)
        try expect(try win(other, Propose.Proposal("k", "x.1")) == version, "another version")
        try expect(try win(client, Propose.Proposal("k", "x.2", after: "x.1")) == version + 1, "not the next version")
    }

    func conflict() throws {
        let client = try BackendClient(socket)
        let record = RecordText("{\"label\":\"a \\\"b\\\" ü\"}")
        let version = try win(client, Propose.Proposal("k", "x.1", record: record.text))
        let answer = try client.propose(Propose.Proposal("k", "y.1"))
        try expect(answer, is: .conflict)
        try expect(answer.version == version && answer.held?.id == "x.1", "\(answer)")
        try expect(answer.held?.record == record, "\(answer)")
        let none = try client.propose(Propose.Proposal("other", "y.2", after: "x.1"))
        try expect(none == .noRecord, "\(none)")
    }

    func windows() throws {
        let client = try BackendClient(socket)
        try expect(client.propose(Propose.Proposal("k", "x.1", window: (1 << 52)...(1 << 53))), is: .early)
        try expect(client.propose(Propose.Proposal("k", "x.2", window: 0...1)), is: .late)
        try expect(
            client.propose(Propose.Proposal("k", "x.3", window: (1 << 52)...(1 << 53), record: nil)),
            is: .early
        )
        try expect(
            client.propose(Propose.Proposal("k", "x.4", record: nil)) == .won(version: nil),
            "it has a record"
        )
    }

    func confirm() throws {
        let client = try BackendClient(socket)
        let version = try win(client, Propose.Proposal("k", "x.1"))
        let confirmed = try client.propose(Propose.Proposal("k", "x.2", after: "x.1", record: nil))
        try expect(confirmed.outcome == .won && confirmed.version == version, "\(confirmed)")
        try expect(client.propose(Propose.Proposal("k", "x.3", after: "x.0", record: nil)), is: .conflict)
        try expect(client.propose(Propose.Proposal("k", "x.4", record: nil)), is: .conflict)
        try expect(try win(client, Propose.Proposal("k", "x.5", after: "x.1")) == version + 1, "not the next version")
    }

    func chain() throws {
        let client = try BackendClient(socket)
        let proposals = (0..<64).map { Propose.Proposal("k", "x.\($0)", after: $0 == 0 ? "" : "x.\($0 - 1)") }
        let answers = try client.propose(proposals)
        try expect(answers.count == 64, "\(answers.count) answers")
        let first = answers[0].version ?? 0
        for (index, answer) in answers.enumerated() {
            try expect(answer.outcome == .won && answer.version == first + Int64(index), "\(answer) at \(index)")
        }
        // If one does not win, those behind it do not either, and other keys are not concerned.
        let mixed = try client.propose([
            Propose.Proposal("k", "y.1", after: "x.0"), Propose.Proposal("k", "y.2", after: "y.1"),
            Propose.Proposal("l", "y.3"),
        ])
        try expect(mixed.map(\.outcome) == [.conflict, .conflict, .won], "\(mixed)")
        try expect(mixed[2].version == first + 64, "a conflict has taken a version")
    }

    func singleWinner() throws {
        let clients = try (0..<50).map { _ in try BackendClient(socket) }
        for (index, client) in clients.enumerated() { try client.sendProposals([Propose.Proposal("k", "h\(index).1")]) }
        let answers = try clients.flatMap { try $0.answers() }
        let winner = answers.firstIndex { $0.outcome == .won } ?? 0
        for (index, answer) in answers.enumerated() where index != winner {
            try expect(answer.held?.id == "h\(winner).1", "\(answer)")
        }
    }

    func manyProposals() throws {
        let client = try BackendClient(socket)
        for number in 0..<10_000 {
            try client.sendProposals([Propose.Proposal("k\(number % 100)/\(number)", "x.\(number)")])
        }
        var last: Int64?
        for number in 0..<10_000 {
            let answers = try client.answers()
            try expect(answers.count == 1 && answers[0].outcome == .won, "\(answers) to \(number)")
            try expect(last.map { $0 + 1 == answers[0].version } ?? true, "\(answers) to \(number), after \(last ?? 0)")
            last = answers[0].version
        }
    }

    func invalidParameters() throws {
        let client = try BackendClient(socket)
        func parameter(_ proposal: Propose.Proposal, shard: Int64 = 0) throws -> String? {
            try client.sendProposals([proposal], shard: shard)
            return try client.reply().parameter("parameter")
        }
        try expect(try parameter(Propose.Proposal("", "x.1")) == "key", "an empty key is accepted")
        try expect(try parameter(Propose.Proposal("a\nb", "x.1")) == "key", "a control character is accepted")
        try expect(try parameter(Propose.Proposal("k", "x 1")) == "id", "whitespace in an id is accepted")
        try expect(try parameter(Propose.Proposal("k", "x.1", record: "[]")) == "record", "an array is accepted")
        try expect(try parameter(Propose.Proposal("k", "x.1", record: "{\n}")) == "record", "a line end is accepted")
        let long = "{\"label\":\"\(String(repeating: "l", count: 64 << 10))\"}"
        try expect(try parameter(Propose.Proposal("k", "x.1", record: long)) == "record", "a long record is accepted")
        try expect(try parameter(Propose.Proposal("k", "x.1"), shard: 1) == "shard", "a second shard is accepted")
        try client.sendProposals((0...64).map { Propose.Proposal("k", "x.\($0)") })
        let name: String? = try client.reply().parameter("parameter")
        try expect(name == "proposals", "65 proposals are accepted")
        let follower = try BackendClient(socket)
        try follower.follow(after: -1)
        let after: String? = try follower.reply().parameter("parameter")
        try expect(after == "after", "a negative version is accepted")
        try client.send(Follow())
        let error = try client.reply().error ?? "nothing"
        try expect(error == "org.varlink.service.ExpectedMore", "\(error) instead of ExpectedMore")
    }
}
