import CountdownCore
import IPC
import TestSupport
import Testing
import Varlink

@testable import countdownd

@Suite("Clients that do not read")
struct SlowClientTests {
    private let label = String(repeating: "x", count: 1_000)

    /// Changes a countdown until there are so few watchers.
    private func change(_ caller: Caller, untilWatchers count: Int64) throws -> GetStatus.Reply {
        var status = try caller.call(GetStatus())
        try waitUntil("\(count) watchers") {
            for _ in 0..<50 { try caller.send(Start(key: "busy", ifRunning: .restart, label: label), oneway: true) }
            status = try caller.call(GetStatus())
            return status.watchers <= count
        }
        return status
    }

    @Test("a client beyond its limit is disconnected, resumes after the last event it saw, and misses no end")
    func comesBack() throws {
        let daemon = try SmallDaemon { $0.unsentBytes = 100_000 }
        let caller = try daemon.caller()
        let slow = try daemon.watch()
        for key in ["a", "b", "c"] { _ = try caller.call(Start(key: key)) }
        let status = try change(caller, untilWatchers: 0)
        #expect(status.counters["slowPeers"] == 1)
        #expect(status.queues?["unsentBytes"] == 0)
        for key in ["a", "b", "c"] { _ = try caller.call(Finish(key: key)) }
        var since: Int64 = 0
        // It reads what it was sent until it finds the connection closed.
        #expect(throws: (any Error).self) {
            while true { since = try slow.next().revision ?? since }
        }
        let missed = try daemon.follower(IPC.Watch(tick: .zero, since: since)).events(through: .synced)
        #expect(missed.filter { $0.type == .finished }.map(\.key) == ["a", "b", "c"])
    }

    @Test("if all clients together have too much unread, the slowest is disconnected, not the others")
    func all() throws {
        let daemon = try SmallDaemon { $0.unsentBytesInAll = 300_000 }
        let caller = try daemon.caller()
        _ = try daemon.caller().call(GetStatus())
        let slow = try (0..<3).map { _ in try daemon.follower(IPC.Watch(tick: .zero)) }
        for follower in slow { try follower.events(through: .synced) }
        let other = try daemon.watch(IPC.Watch(tick: .zero, keys: ["quiet"]))
        let status = try change(caller, untilWatchers: 3)
        #expect(status.counters["slowPeers"] ?? 0 >= 1)
        #expect(status.queues?["unsentBytes"] ?? 0 > 1_000)
        _ = try caller.call(Start(key: "quiet"))
        #expect(try other.next().type == .started)
    }

    @Test("however much one turn delivers, no more than the limit and a page for each client is pending")
    func inOneTurn() throws {
        let lines = Lines()
        let limit = 400_000
        let daemon = try SmallDaemon(log: lines.log) { $0.unsentBytesInAll = limit }
        let caller = try daemon.caller()
        let slow = try (0..<10).map { _ in try daemon.follower(IPC.Watch(match: ["due/*"], tick: .zero)) }
        for follower in slow { try follower.events(through: .synced) }
        let parameters = #"{"key":"due/1","ifRunning":"restart","label":"\#(label)"}"#
        let call = #"{"method":"io.countdownd.Start","parameters":\#(parameters),"oneway":true}"#
        try caller.connection.send(Array(String(repeating: call + "\0", count: 500).utf8))
        let counters = try caller.call(GetStatus()).counters
        #expect(try #require(counters["slowPeers"]) > 0)
        #expect(try #require(counters["mostUnsentBytes"]) < limit + 2 * 65_536)
        #expect(lines.all.filter { $0.contains("disconnecting a client that has left") }.count <= 10)
    }

    @Test("a client that does not read a list delays no other client, and pages are all that is kept for it")
    func unreadList() throws {
        let daemon = try SmallDaemon {
            $0.pageBytes = 1_000
            $0.unsentBytes = 20_000
        }
        let caller = try daemon.caller()
        for number in 0..<1_000 { try caller.send(Start(key: "\(number)", label: label), oneway: true) }
        let reader = try daemon.caller()
        try reader.send(List(), more: true)
        for _ in 0..<500 { try reader.send(Get(key: "0")) }
        for _ in 0..<100 { _ = try caller.call(Get(key: "1")) }
        #expect(try caller.call(GetStatus()).counters["slowPeers"] == 0)
        var keys: [String] = []
        while true {
            let page = try reader.answer(to: List.self)
            keys += page.value.countdowns.map(\.key)
            if !page.continues { break }
        }
        #expect(keys == (0..<1_000).map { "\($0)" })
        for _ in 0..<500 { _ = try reader.answer(to: Get.self) }
    }

    @Test("a client that does not read loses ticks, never ends")
    func ticks() throws {
        let daemon = try SmallDaemon { $0.shortestTick = .milliseconds(1) }
        let caller = try daemon.caller()
        let slow = try daemon.watch(IPC.Watch(tick: .microseconds(1_000)))
        let quick = try daemon.watch()
        for number in 0..<200 {
            try caller.send(Start(key: "\(number)", durationUSec: 100_000, label: label), oneway: true)
        }
        for _ in 0..<100 {
            _ = try caller.call(GetStatus())
            daemon.time.pass(.milliseconds(1))
        }
        try quick.events(through: .finished, of: "199")
        let status = try caller.call(GetStatus())
        #expect(status.counters["slowPeers"] == 0)
        let told = try slow.events(through: .finished, of: "199")
        #expect(told.filter { $0.type == .finished }.count == 200)
        #expect(Int64(told.filter { $0.type == .tick }.count) == status.counters["ticks"])
        #expect(told.filter { $0.type == .tick }.count < 200 * 99)
    }
}
