import IPC
import TestSupport
import Testing

@Suite("A watch that resumes with since on a host of a fleet", .serialized)
struct ResumptionTrials {
    /// The program that is ended and started again.
    enum Part: String, CaseIterable, CustomTestStringConvertible {
        case daemon, bridge, engine

        var testDescription: String { rawValue }
    }

    @Test("it gets what was changed on all hosts before, during and after a restart", arguments: Part.allCases)
    func restart(_ part: Part) throws {
        let fleet = try Fleet(hosts: 2)
        let (host, other) = (fleet.hosts[0], fleet.hosts[1])
        try host.start("before", .seconds(3_600))
        try other.start("other's", .seconds(3_600))
        try fleet.awaitEqual()
        let since = try host.revision()
        try other.start("short", .seconds(3))
        _ = try other.call(Cancel(key: "before"))
        try host.start("new", .seconds(3_600))
        switch part {
        case .daemon: try host.daemon.kill()
        case .bridge: try host.bridge.program.kill()
        case .engine: try fleet.engine.kill()
        }
        if part != .engine {
            _ = try other.call(Finish(key: "other's"))
            try other.start("other's new", .seconds(3_600))
        }
        try waitUntil("the countdown to end") { try other.get("short").state == .finished }
        switch part {
        case .daemon: try host.restartDaemon()
        case .bridge: try host.bridge.start()
        case .engine: try fleet.engine.start()
        }
        try fleet.awaitChanges()
        if part == .engine {
            _ = try other.call(Finish(key: "other's"))
            try other.start("other's new", .seconds(3_600))
        }
        try fleet.awaitEqual()
        let follower = try Follower(of: host.daemon, Watch(tick: .zero, since: since))
        let events = try follower.events(through: .synced)
        let types = Dictionary(grouping: events.filter { $0.key != nil }) { $0.key ?? "" }.mapValues { $0.map(\.type) }
        #expect(types["before"] == [.cancelled])
        #expect(types["short"] == [.finished])
        #expect(types["other's"] == [.finished])
        #expect(types["new"] == [.attached])
        #expect(types["other's new"] == [.attached])
        let revisions = events.compactMap { $0.countdown?.revision ?? $0.revision }
        #expect(revisions == revisions.sorted())
        #expect(try #require(revisions.first) > since)
    }

    @Test("revisions go on after restarts of everything, one after another")
    func revisions() throws {
        let fleet = try Fleet(hosts: 2)
        let host = fleet.hosts[0]
        let follower = { since in try Follower(of: host.daemon, Watch(tick: .zero, since: since)) }
        var since = try host.revision()
        for round in 0..<6 {
            try fleet.hosts[1].start("key/\(round)", .seconds(3_600))
            switch round % 3 {
            case 0:
                try host.daemon.kill()
                try host.restartDaemon()
            case 1:
                try host.bridge.program.kill()
                try host.bridge.start()
            default:
                try fleet.engine.kill()
                try fleet.engine.start()
            }
            try fleet.awaitChanges()
            try fleet.awaitEqual()
            let events = try follower(since).events(through: .synced)
            let keys = events.filter { $0.type == .attached }.compactMap(\.key)
            #expect(keys.count { $0 == "key/\(round)" } == 1)
            #expect(round == 0 || !keys.contains("key/\(round - 1)"))
            let revision = try #require(events.last?.revision)
            #expect(revision > since)
            since = revision
        }
    }
}
