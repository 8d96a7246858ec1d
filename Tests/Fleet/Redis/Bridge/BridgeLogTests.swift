import BackendContract
import FleetWire
import Testing

/// The place of a follower in the log of a real engine.
@Suite("The log in Redis", .serialized)
struct BridgeLogTests {
    /// A log in which changes from `first` on were added, and those before `kept` were removed again.
    private struct Log: CustomTestStringConvertible {
        var first = 1
        var last = 9
        var kept = 1
        var version: Int? = 9
        /// The number of changes in an entry.
        var step = 1

        var testDescription: String { "\(first)-\(last), \(kept) and later kept, at version \(version ?? 0)" }
    }

    private let server = Result { try RedisServer() }

    private func state(of log: Log?, _ version: Int64, _ id: String? = nil) throws -> Follow.State {
        let server = try server.get()
        try server.command("FLUSHALL")
        if let log {
            for number in stride(from: log.first, through: log.last, by: log.step) {
                let changes = (number..<number + log.step).flatMap { ["k", "\($0) x.\($0) {}"] }
                try server.command(["XADD", "cd:{fleet/0}:log", "\(number + log.step - 1)-0"] + changes)
            }
            try server.command("SET", "cd:{fleet/0}:origin", "\(log.first - 1)")
            try server.command("XTRIM", "cd:{fleet/0}:log", "MINID", "\(log.kept)-0")
            if let version = log.version { try server.command("SET", "cd:{fleet/0}:version", "\(version)") }
        }
        let bridge = try BridgeProcess(server)
        let follower = try bridge.client()
        try follower.follow(after: version, id: id ?? "x.\(version)")
        let state = try follower.update().state
        _ = try follower.updates(until: .live)
        return state
    }

    @Test("each place has its verdict")
    func verdicts() throws {
        #expect(try state(of: Log(kept: 5), 7) == .resumed)
        #expect(try state(of: Log(kept: 5), 9) == .resumed)
        #expect(try state(of: Log(kept: 5), 7, "other") == .diverged)
        #expect(try state(of: Log(kept: 5), 3) == .trimmed)
        #expect(try state(of: Log(kept: 5), 4) == .trimmed)
        // Not trimmed, but made anew.
        #expect(try state(of: Log(first: 5), 3) == .diverged)
        #expect(try state(of: Log(kept: 5), 10) == .diverged)
        #expect(try state(of: nil, 3) == .diverged)
        #expect(try state(of: Log(kept: 10), 3) == .trimmed)
        #expect(try state(of: Log(kept: 10), 9) == .trimmed)
        // Entries of three changes each.
        #expect(try state(of: Log(step: 3), 3) == .resumed)
        #expect(try state(of: Log(step: 3), 4) == .resumed)
        #expect(try state(of: Log(step: 3), 5, "other") == .diverged)
        #expect(try state(of: Log(kept: 4, step: 3), 2) == .trimmed)
        #expect(try state(of: Log(kept: 4, step: 3), 3) == .trimmed)
        #expect(try state(of: Log(kept: 4, step: 3), 5) == .resumed)
        // The log ends before the version.
        #expect(try state(of: Log(last: 8), 8) == .diverged)
    }

    @Test("a log that is longer than the bridge accepts in one reply is read in parts")
    func long() throws {
        let server = try server.get()
        // 4 MiB in each entry, as in a call with 64 records of 64 KiB.
        let script = """
            for version = 2, 41 do
                redis.call('XADD', KEYS[1], version .. '-0', 'k', string.rep('x', 4194304))
            end
            """
        try server.command("XADD", "cd:{fleet/0}:log", "1-0", "k", "1 x.1 {}")
        try server.command("EVAL", script, "1", "cd:{fleet/0}:log")
        try server.command("SET", "cd:{fleet/0}:origin", "0")
        try server.command("SET", "cd:{fleet/0}:version", "41")
        let bridge = try BridgeProcess(server)
        let follower = try bridge.client()
        try follower.follow(after: 1, id: "x.1")
        var states: [Follow.State] = []
        while states.last != .live, states.last != .lost { states.append(try follower.update().state) }
        #expect(states == [.resumed, .diverged, .page, .live])
    }
}
