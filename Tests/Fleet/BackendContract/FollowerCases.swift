import FleetWire

/// The cases of followers.
extension BackendContract {
    func follow() throws {
        let client = try BackendClient(socket)
        let first = try win(client, Propose.Proposal("a", "x.1"))
        _ = try win(client, Propose.Proposal("b", "x.2"))
        let follower = try BackendClient(socket)
        try follower.follow()
        let updates = try follower.updates(until: .live)
        let records = updates.filter { $0.state == .page }.flatMap(\.entries)
        try expect(Set(records.map(\.id)) == ["x.1", "x.2"], "\(records)")
        try expect(updates.last?.last == Follow.Position(version: first + 1, id: "x.2"), "\(updates)")
        try expect(updates.first?.clock != nil, "no clock in \(updates)")
        _ = try client.propose([Propose.Proposal("a", "x.3", after: "x.1"), Propose.Proposal("c", "x.4")])
        _ = try win(client, Propose.Proposal("c", "x.5", after: "x.4"))
        let changes = try changes(follower, after: first + 1, to: first + 4)
        try expect(changes.map(\.id) == ["x.3", "x.4", "x.5"] && changes.map(\.key) == ["a", "c", "c"], "\(changes)")
        try expect(changes.allSatisfy { $0.record?.text == "{\"kind\":\"started\"}" }, "\(changes)")
    }

    func resume() throws {
        let client = try BackendClient(socket)
        let first = try win(client, Propose.Proposal("a", "x.1"))
        for number in 2...5 { _ = try win(client, Propose.Proposal("a", "x.\(number)", after: "x.\(number - 1)")) }
        let follower = try BackendClient(socket)
        try follower.follow(after: first, id: "x.1")
        let updates = try follower.updates(until: .live)
        try expect(updates.first?.state == .resumed, "\(updates)")
        try expect(updates.flatMap(\.entries).map(\.id) == ["x.2", "x.3", "x.4", "x.5"], "\(updates)")
        let level = try BackendClient(socket)
        try level.follow(after: first + 4, id: "x.5")
        let quiet = try level.updates(until: .live)
        try expect(quiet.map(\.state) == [.resumed, .live], "\(quiet)")
        _ = try win(client, Propose.Proposal("a", "x.6", after: "x.5"))
        try expect(try changes(level, after: first + 4, to: first + 5).map(\.id) == ["x.6"], "another change")
    }

    func ownChanges() throws {
        let client = try BackendClient(socket)
        let follower = try BackendClient(socket)
        try follower.follow(host: "x.")
        let start = try follower.updates(until: .live).last?.last?.version ?? 0
        let answers = try client.propose((1...8).map { Propose.Proposal("k\($0)", "\($0 % 4 == 0 ? "y" : "x").\($0)") })
        try expect(answers.map(\.version) == (1...8).map { start + $0 }, "\(answers)")
        _ = try win(client, Propose.Proposal("last", "y.9"))
        var entries: [Follow.Entry] = []
        while entries.last?.id != "y.9" { entries += try follower.update().entries }
        let versions = entries.map(\.version)
        try expect(versions == versions.sorted(), "versions \(versions)")
        try expect(entries.filter { $0.id.hasPrefix("y.") }.map(\.id) == ["y.4", "y.8", "y.9"], "\(entries)")
        // A new call gets every change that it has missed.
        let late = try BackendClient(socket)
        try late.follow(after: start, host: "x.")
        let missed = try late.updates(until: .live).flatMap(\.entries)
        try expect(missed.map(\.version) == (1...9).map { start + $0 }, "\(missed)")
    }

    func empty() throws {
        let first = try BackendClient(socket)
        try first.follow()
        let updates = try first.updates(until: .live)
        guard let start = updates.last?.last, start.id == nil else { throw ContractFailure("\(updates)") }
        let level = try BackendClient(socket)
        try level.follow(after: start.version)
        let quiet = try level.updates(until: .live)
        try expect(quiet.map(\.state) == [.resumed, .live] && quiet.last?.last == start, "\(quiet)")
        let version = try win(BackendClient(socket), Propose.Proposal("a", "x.1"))
        try expect(version == start.version + 1, "version \(version) after \(start.version)")
        let late = try BackendClient(socket)
        try late.follow(after: start.version)
        try expect(try late.update().state == .resumed, "it is not resumed")
        for client in [first, level, late] {
            try expect(try changes(client, after: start.version, to: version).map(\.id) == ["x.1"], "another change")
        }
    }

    func trimmed() throws {
        let client = try BackendClient(socket)
        let first = try win(client, Propose.Proposal("a", "x.1"))
        for number in 2...5 { _ = try win(client, Propose.Proposal("a", "x.\(number)", after: "x.\(number - 1)")) }
        try engine.trimLog()
        try expectSnapshot(after: first, "x.1", announcedBy: .trimmed, of: ["x.5"])
    }

    /// Follows from a change, and expects a state and then a snapshot of records with these ids.
    private func expectSnapshot(
        after version: Int64,
        _ id: String,
        announcedBy state: Follow.State,
        of ids: Set<String>
    ) throws {
        let follower = try BackendClient(socket)
        try follower.follow(after: version, id: id)
        let updates = try follower.updates(until: .live)
        try expect(updates.first?.state == state && updates.first?.reason != nil, "\(updates) instead of \(state)")
        try expect(Set(updates.filter { $0.state == .page }.flatMap(\.entries).map(\.id)) == ids, "\(updates)")
    }

    func otherHistory() throws {
        let client = try BackendClient(socket)
        let version = try win(client, Propose.Proposal("a", "x.1"))
        try expectSnapshot(after: version, "other.1", announcedBy: .diverged, of: ["x.1"])
        try expectSnapshot(after: version + 1, "x.2", announcedBy: .diverged, of: ["x.1"])
        try engine.loseEverything()
        try expectSnapshot(after: version, "x.1", announcedBy: .diverged, of: [])
        let new = try win(client, Propose.Proposal("a", "y.1"))
        try expect(new > version, "version \(new) after \(version)")
        try expectSnapshot(after: version, "x.1", announcedBy: .diverged, of: ["y.1"])
    }

    func emptyEngine() throws {
        let client = try BackendClient(socket)
        _ = try win(client, Propose.Proposal("a", "x.1"))
        let follower = try BackendClient(following: socket)
        try engine.loseEverything()
        let new = try win(client, Propose.Proposal("b", "x.2"))
        // A backend may notice it before the change, so that it is in the snapshot or behind it.
        var updates: [Follow.Reply] = []
        repeat { updates.append(try follower.update()) } while updates.last?.last?.version != new
        try expect(updates.first?.state == .diverged, "\(updates)")
        try expect(updates.flatMap(\.entries).map(\.id) == ["x.2"], "\(updates)")
        if updates.last?.state == .page { _ = try follower.updates(until: .live) }
        let version = try win(client, Propose.Proposal("b", "x.3", after: "x.2"))
        try expect(try changes(follower, after: version - 1, to: version).map(\.id) == ["x.3"], "another change")
    }

    /// Changes a key 5,120 times, to more than 10 MiB of changes.
    ///
    /// - Returns: the version before these changes.
    private func makeManyChanges(of client: BackendClient, _ body: () throws -> Void) throws -> Int64 {
        let first = try win(client, Propose.Proposal("a", "x.0"))
        try body()
        for batch in 0..<80 {
            let answers = try client.propose(
                (1...64).map { place in
                    let number = batch * 64 + place
                    return Propose.Proposal("a", "x.\(number)", after: "x.\(number - 1)", record: Self.largeRecord)
                }
            )
            try expect(answers.allSatisfy { $0.outcome == .won }, "\(answers)")
        }
        return first
    }

    private static let largeRecord = "{\"label\":\"\(String(repeating: "l", count: 2_000))\"}"

    func slowFollower() throws {
        let follower = try BackendClient(socket)
        let first = try makeManyChanges(of: BackendClient(socket)) {
            try follower.follow()
            _ = try follower.updates(until: .live)
        }
        let changes = try changes(follower, after: first, to: first + 5_120)
        try expect(changes.last?.id == "x.5120", "\(changes.last?.id ?? "nothing")")
    }

    func slowAndTrimmed() throws {
        let follower = try BackendClient(socket)
        let first = try makeManyChanges(of: BackendClient(socket)) {
            try follower.follow()
            _ = try follower.updates(until: .live)
        }
        try engine.trimLog()
        let changes = try follower.updates(until: .trimmed).flatMap(\.entries)
        for (index, entry) in changes.enumerated() {
            try expect(entry.version == first + 1 + Int64(index), "version \(entry.version) at place \(index)")
        }
        let snapshot = try follower.updates(until: .live)
        try expect(snapshot.flatMap(\.entries).map(\.id) == ["x.5120"], "\(snapshot)")
    }

    func interruptedSnapshot() throws {
        let client = try BackendClient(socket)
        for batch in 0..<80 {
            let proposals = (0..<64).map {
                Propose.Proposal("k\(batch)/\($0)", "x.\(batch * 64 + $0)", record: Self.largeRecord)
            }
            let answers = try client.propose(proposals)
            try expect(answers.allSatisfy { $0.outcome == .won }, "\(answers)")
        }
        let follower = try BackendClient(socket)
        try follower.follow(after: 1, id: "other.1")
        let state = try follower.update().state
        try expect(state == .diverged, "\(state) instead of diverged")
        try engine.kill()
        try engine.restart()
        let pages = try follower.updates(until: .lost).dropLast()
        try expect(pages.allSatisfy { $0.state == .page }, "something else than pages")
        try expect(pages.flatMap(\.entries).count < 5_120, "the snapshot was not interrupted")
        // Another reason of the loss may be reported first.
        let again = try follower.updates(until: .live).drop { $0.state == .lost }
        try expect(again.first?.state == .diverged, "\(String(describing: again.first)) instead of diverged")
        let records = again.filter { $0.state == .page }.flatMap(\.entries)
        try expect(Set(records.map(\.key)).count == 5_120, "records are missing")
    }

    func largeSnapshot() throws {
        let client = try BackendClient(socket)
        for batch in 0..<100 {
            let proposals = (0..<64).map { Propose.Proposal("k\(batch)/\($0)", "x.\(batch * 64 + $0)") }
            let answers = try client.propose(proposals)
            try expect(answers.allSatisfy { $0.outcome == .won }, "\(answers)")
        }
        let follower = try BackendClient(socket)
        try follower.follow()
        let pages = try follower.updates(until: .live).filter { $0.state == .page }
        try expect(pages.count > 1, "one page of 6,400 records")
        try expect(Set(pages.flatMap(\.entries).map(\.key)).count == 6_400, "records are missing")
    }
}
