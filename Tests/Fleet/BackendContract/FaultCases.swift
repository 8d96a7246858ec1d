import FleetWire
import Varlink

/// The cases of an engine that is full, does not answer or dies, and the case of its clock.
extension BackendContract {
    func full() throws {
        let client = try BackendClient(socket)
        let version = try win(client, Propose.Proposal("a", "x.1"))
        try engine.setFull(true)
        let answers = try client.propose([
            Propose.Proposal("a", "x.2", after: "x.1", record: nil), Propose.Proposal("b", "x.3"),
            Propose.Proposal("a", "x.4", after: "x.1", record: nil), Propose.Proposal("a", "x.5", record: nil),
        ])
        try expect(answers.map(\.outcome) == [.won, .unreachable, .won, .conflict], "\(answers)")
        try engine.setFull(false)
        try expect(try win(client, Propose.Proposal("b", "x.3")) == version + 1, "a refused change has taken a version")
    }

    func killed() throws {
        let client = try BackendClient(socket)
        let version = try win(client, Propose.Proposal("a", "x.1"))
        let follower = try BackendClient(following: socket)
        try engine.kill()
        let lost = try follower.update()
        try expect(lost.state == .lost && lost.reason != nil, "\(lost) instead of lost")
        let answers = try client.propose([Propose.Proposal("b", "x.2"), Propose.Proposal("a", "x.3", record: nil)])
        try expect(answers.allSatisfy { $0.outcome == .unreachable }, "\(answers)")
        let late = try BackendClient(socket)
        try late.follow(after: version, id: "x.1")
        try expect(try late.update().state == .lost, "a follower is not told that the engine is lost")
        try engine.restart()
        for client in [follower, late] {
            // Another reason of the loss may be reported first.
            let updates = try client.updates(until: .live).drop { $0.state == .lost }
            try expect(updates.map(\.state) == [.resumed, .live], "\(updates)")
        }
        try expect(try win(client, Propose.Proposal("a", "x.1")) == version, "the change is lost")
        try expect(try win(client, Propose.Proposal("b", "x.2")) == version + 1, "not the next version")
    }

    func frozen() throws {
        let client = try BackendClient(socket)
        let version = try win(client, Propose.Proposal("a", "x.1"))
        try engine.freeze()
        let answer = try client.propose(Propose.Proposal("a", "x.2", after: "x.1"))
        try expect(answer.outcome == .unknown, "\(answer) instead of unknown")
        let confirmed = try client.propose(Propose.Proposal("a", "x.3", after: "x.1", record: nil))
        try expect(confirmed.outcome == .unreachable, "\(confirmed) instead of unreachable")
        try engine.thaw()
        try waitUntilLive()
        try expect(try win(client, Propose.Proposal("a", "x.2", after: "x.1")) == version + 1, "it was made twice")
    }

    func clock() throws {
        let client = try BackendClient(socket)
        try client.sendProposals([Propose.Proposal("a", "x.1")])
        let reply = try client.reply()
        guard let clock = try reply.parameters(as: Propose.Reply.self).clock else { throw ContractFailure("no clock") }
        try expect(clock.errorUSec > 0 && clock.errorUSec < 10_000_000, "\(clock)")
        // The engine agrees about what is past and what is ahead, but for the error of the clock.
        let now = clock.now
        try expect(
            client.propose(Propose.Proposal("b", "x.2", window: (now - 60_000_000)...(now + 60_000_000))),
            is: .won
        )
        try expect(client.propose(Propose.Proposal("c", "x.3", window: 0...(now - 60_000_000))), is: .late)
        let ahead = (now + 60_000_000)...(now + 120_000_000)
        try expect(client.propose(Propose.Proposal("c", "x.4", window: ahead)), is: .early)
    }
}
