import Glibc
import IPC
import TestSupport
import Testing
import Varlink

/// Other clients must notice nothing. `scripts/bench hostile` measures how late their countdowns end meanwhile.
@Suite("Hostile clients")
struct HostileTests {
    private let daemon: DaemonProcess
    private static let get = #"{"method":"io.countdownd.Get","parameters":{"key":"own"}}"#

    init() throws {
        daemon = try DaemonProcess()
    }

    /// Starts this many countdowns, which run for an hour.
    private func fill(_ count: Int, _ key: (Int) -> String) throws {
        let caller = try Caller(of: daemon)
        for start in stride(from: 0, to: count, by: 1_000) {
            let calls = (start..<min(start + 1_000, count)).map {
                let parameters = #"{"key":"\#(key($0))","durationUSec":3600000000}"#
                return #"{"method":"io.countdownd.Start","parameters":\#(parameters),"oneway":true}"#
            }
            try caller.connection.send(Array((calls.joined(separator: "\0") + "\0").utf8))
        }
        #expect(try caller.call(GetStatus()).running == count)
    }

    /// Waits until only the bystander is connected.
    private func awaitSolitude(of bystander: Bystander) throws {
        try waitUntil("the end of other connections") { try bystander.status().connections <= 2 }
    }

    @Test("a client that sends a gibibyte without an end is disconnected after the longest message")
    func endless() throws {
        let bystander = try Bystander(of: daemon)
        let connection = try daemon.connect()
        let bytes = [UInt8](repeating: UInt8(ascii: "{"), count: 65_536)
        var sent = 0
        #expect(throws: SystemCallFailure.self) {
            while sent < 1 << 30 {
                try connection.send(bytes)
                sent += bytes.count
            }
        }
        // The longest message, and the bytes that the kernel holds of a socket.
        #expect(sent < 4 << 20)
        #expect(daemon.standardError.contains("a client whose message has more than 262144 bytes"))
        try bystander.noticesNothing()
    }

    @Test("a client that sends a hundred thousand calls and reads no answer is not read from any more")
    func deaf() throws {
        let bystander = try Bystander(of: daemon)
        let connection = try daemon.connect()
        let calls = Array(String(repeating: Self.get + "\0", count: 100_000).utf8)
        var (sent, refusals) = (0, 0)
        // The daemon has had a turn, in which it could have read, whenever the bystander is answered.
        while refusals < 20, sent < calls.count {
            let count = try connection.sendSome(calls[sent...])
            sent += count
            refusals = count > 0 ? 0 : refusals + 1
            _ = try bystander.status()
        }
        #expect(sent < calls.count)
        #expect(try bystander.status().counters["slowPeers"] == 0)
        for _ in 0..<1_000 { #expect(try connection.message().contains(#""key":"own""#)) }
        try bystander.noticesNothing()
    }

    @Test("a client that reads a list of hundreds byte by byte gets all of it, and others are answered meanwhile")
    func slowReader() throws {
        try fill(500) { "\($0)" }
        let bystander = try Bystander(of: daemon)
        let lister = try Caller(of: daemon)
        lister.connection.portion = 1
        try lister.send(List(), more: true)
        var keys: [String] = []
        while keys.count <= 501 {
            let page = try lister.answer(to: List.self)
            keys += page.value.countdowns.map(\.key)
            _ = try bystander.status()
            if !page.continues { break }
        }
        #expect(keys == (0..<500).map { "\($0)" } + ["own"])
        try bystander.noticesNothing()
    }

    @Test(
        "if a client opens more connections than the limit, further ones are told so, and all are served when it has gone"
    )
    func manyConnections() throws {
        let isBeyond = try raiseDescriptorLimit(to: 6_000) > 5_500
        let count = isBeyond ? 5_000 : 300
        let bystander = try Bystander(of: daemon, following: ["own"])
        let connections = try (0..<count).map { _ in try daemon.connect() }
        try withExtendedLifetime(consume connections) {
            try waitUntil("\(count) connections") { try bystander.status().connections >= min(count + 2, 4_096) }
            #expect(try bystander.status().connections <= 4_096 + 256)
            if isBeyond {
                #expect(throws: CountdownError.limitReached(limit: "connections", maximum: 4_096)) {
                    try Caller(of: daemon).call(GetStatus())
                }
            }
        }
        let caller = try Caller(of: daemon)
        #expect(try caller.call(Start(key: "tea")).outcome == .started)
        try bystander.isServed()
    }

    @Test("if a client watches thousands of countdowns every 10 ms and reads nothing, others get their events")
    func ticks() throws {
        try fill(20_000) { "hostile/\($0)" }
        let bystander = try Bystander(of: daemon, following: ["own"])
        var connection: RawConnection? = try daemon.connect()
        let watch = #"{"method":"io.countdownd.Watch","parameters":{"match":["*"],"tickUSec":10000},"more":true}"#
        try connection?.send(message: watch)
        try waitUntil("a second watcher") { try bystander.status().watchers >= 2 }
        for _ in 0..<20 { _ = try bystander.status() }
        connection = nil
        try awaitSolitude(of: bystander)
        try bystander.noticesNothing()
    }

    @Test("if a client lists and watches with the slowest patterns, others are answered in between")
    func patterns() throws {
        try fill(100) { String(repeating: "a", count: 250) + "\($0)" }
        let bystander = try Bystander(of: daemon, following: ["own"])
        let patterns = (0..<64).map { "*" + String(repeating: "a", count: 126) + "b\($0)" }
        let hostile = try Caller(of: daemon)
        try hostile.send(List(match: patterns), more: true)
        try hostile.send(Watch(match: patterns), more: true)
        for _ in 0..<20 { _ = try bystander.status() }
        #expect(try hostile.answer(to: List.self).value.countdowns == [])
        #expect(try hostile.answer(to: Watch.self).value.events.map(\.type) == [.synced])
        try bystander.isServed()
    }
}
