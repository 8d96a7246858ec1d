import FakeBackend
import Foundation
import IPC
import TestSupport
import Testing

@Suite("The status of a member of a fleet", .serialized)
struct SharedStatusTests {
    private let fleet: Fleet
    private let caller: Caller

    init() throws {
        fleet = try Fleet(2)
        caller = try fleet.caller()
    }

    private func status() throws -> GetStatus.Fleet { try #require(caller.call(GetStatus()).fleet) }
    private func shard() throws -> GetStatus.Shard { try #require(status().shards.first) }
    private func counter(_ name: String) throws -> Int64 { try #require(caller.call(GetStatus()).counters[name]) }

    /// How often the log of the first daemon has a text.
    private func lines(with text: String) -> Int {
        fleet.daemons[0].standardError.components(separatedBy: text).count - 1
    }

    @Test("shows the engine, its clock, and how fast it answers")
    func engine() throws {
        fleet.backend.setClock(ahead: 5_000)
        _ = try caller.call(Start(key: "tea"))
        _ = try caller.call(Start(key: "tea"))
        let status = try status()
        #expect(status.engine == "Fake 1")
        #expect(status.namespace == "fleet")
        #expect(status.shards.map(\.state) == [.live])
        #expect(status.shards[0].lagUSec == 0)
        #expect(status.shards[0].reason == nil)
        #expect(status.clockErrorUSec == 100)
        #expect(status.roundTrip.count >= 2)
        #expect((1...status.roundTrip.p99USec).contains(status.roundTrip.p50USec))
        #expect((status.roundTrip.greatestUSec...).contains(status.roundTrip.sumUSec))
        try waitUntil("the clock's lead") {
            let lead = try self.status().clockAheadUSec
            return (4_000...6_000).contains(lead ?? 0)
        }
    }

    @Test("a daemon whose countdowns are its own has no fleet")
    func alone() throws {
        let daemon = try DaemonProcess()
        let status = try Caller(of: daemon).call(GetStatus())
        #expect(status.fleet == nil)
        #expect(!status.counters.keys.contains { $0.hasPrefix("fleet") })
    }

    @Test("shows and tells the service manager since when the engine is lost, until it is back; the log says each once")
    func loss() throws {
        #expect(lines(with: "cannot be reached") == 0)
        let since = try shard().sinceUSec
        fleet.backend.kill()
        try fleet.awaitLost(0)
        try fleet.daemons[0].awaitStatus { status in
            status.contains("; the fleet's engine is lost since ")
                && status.hasSuffix(": the engine has closed the connection")
        }
        let lost = try shard()
        #expect(lost.state == .lost)
        #expect(lost.sinceUSec > since)
        #expect(lost.reason == "the engine has closed the connection")
        #expect(lost.lagUSec > 0)
        #expect(try shard().lagUSec > lost.lagUSec)
        fleet.backend.restart()
        try fleet.awaitLive(0, times: 2)
        try fleet.daemons[0].awaitStatus { !$0.contains("engine") }
        #expect(try shard().state == .live)
        #expect(try shard().lagUSec == 0)
        #expect(lines(with: "cannot be reached") == 1)
        #expect(lines(with: "following the countdowns of the fleet") == 2)
        #expect(try counter("fleetLosses") == 1)
    }

    @Test("while the engine is followed and nothing changes, only the calls themselves wake the daemon")
    func idle() throws {
        var fewest = Int64.max
        for _ in 0..<3 {
            let before = try counter("wakeUps")
            letPass(.milliseconds(1_500))
            fewest = min(fewest, try counter("wakeUps") - before)
        }
        #expect(fewest == 1)
    }

    @Test("counts conflicts, and how often every countdown was read again, and why")
    func counters() throws {
        fleet.backend.setFaults { $0.updateDelay = .milliseconds(200) }
        _ = try fleet.caller(1).call(Start(key: "tea"))
        #expect(try caller.call(Start(key: "tea")).outcome == .attached)
        fleet.backend.setFaults { $0.updateDelay = 0 }
        #expect(try counter("fleetConflicts") == 1)
        #expect(try (counter("fleetResyncs"), counter("fleetDivergences")) == (0, 0))
        fleet.backend.cutOff(0)
        try fleet.awaitLost(0)
        for number in 0..<3 { _ = try fleet.caller(1).call(Start(key: "\(number)")) }
        fleet.backend.trimLog()
        fleet.backend.rejoin(0)
        try fleet.awaitLive(0, times: 2)
        #expect(try (counter("fleetResyncs"), counter("fleetDivergences")) == (1, 0))
        fleet.backend.loseEverything()
        try fleet.awaitLive(0, times: 3)
        #expect(try (counter("fleetResyncs"), counter("fleetDivergences")) == (1, 1))
    }
}
