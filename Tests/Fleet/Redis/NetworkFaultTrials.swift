import Glibc
import IPC
import TestSupport
import Testing

/// Rows of the fault table in docs/fleet.md that need a network with faults: the first host is connected through a proxy.
@Suite("Faults of the network", .serialized)
struct NetworkFaultTrials {
    private let fleet: Fleet
    private let proxy: NetworkProxy
    /// The host behind the proxy.
    private let host: Host

    init() throws {
        fleet = try Fleet(hosts: 2)
        host = fleet.hosts[0]
        proxy = try NetworkProxy(to: fleet.engine.port)
        try host.bridge.replaceURL("redis://127.0.0.1:\(proxy.port)/")
        try host.bridge.program.line(containing: "at 127.0.0.1:\(proxy.port), namespace")
        try host.awaitChanges()
        try host.start("kept", .seconds(3_600))
        try fleet.awaitEqual()
    }

    /// The fate of a change.
    private enum Outcome { case made, notMade, unknown }

    private func outcome(of call: () throws -> Start.Reply) throws -> Outcome {
        do {
            _ = try call()
            return .made
        } catch CountdownError.storageFailed {
            return .notMade
        } catch CountdownError.unreachable {
            return .unknown
        }
    }

    private func expectEqualAgain() throws {
        try fleet.awaitChanges()
        #expect(try fleet.awaitEqual()["kept"] != nil)
        for host in fleet.hosts { #expect(!host.daemon.standardError.contains("another history")) }
    }

    @Test(
        "it does not answer: Unreachable for calls in flight, then StorageFailed; ends are on time, and reads go on",
        arguments: [NetworkProxy.Direction.allCases, [.toEngine], [.toBridge]]
    )
    func blackHole(directions: [NetworkProxy.Direction]) throws {
        let watch = try host.watch()
        try host.start("short", .seconds(3))
        try watch.events(through: .started, of: "short")
        proxy.hold(directions)
        let caller = try Caller(of: host.daemon)
        try caller.send(Start(key: "in flight", durationUSec: .hour))
        #expect(try outcome { try caller.answer(to: Start.self).value } == .unknown)
        // Until the bridge gives the connection up too, it passes changes on, and the engine may make them.
        try waitUntil("a refusal") { try outcome { try host.start("perhaps made", .seconds(3_600)) } == .notMade }
        #expect(try outcome { try host.start("refused", .seconds(3_600)) } == .notMade)
        #expect(try host.start("kept", .seconds(1)).outcome == .attached)
        #expect(try host.get("kept").state == .running)
        #expect(try host.countdowns()["kept"] != nil)
        try watch.events(through: .finished, of: "short")
        try fleet.hosts[1].start("elsewhere", .seconds(3_600))
        do {
            _ = try host.call(Cancel(key: "elsewhere"))
            Issue.record("a host that is cut off has cancelled a countdown")
        } catch CountdownError.storageFailed {}
        _ = try fleet.hosts[1].call(Cancel(key: "kept"))
        #expect(try host.get("kept").state == .running)
        try fleet.hosts[1].start("kept", .seconds(7_200))
        proxy.release()
        try expectEqualAgain()
        #expect(try host.get("kept").durationUSec == 7_200_000_000)
        #expect(throws: CountdownError.noSuchCountdown(key: "refused")) { try host.get("refused") }
    }

    @Test("half-open: a connection that the engine has closed and the bridge has not is given up, and made again")
    func halfOpenAtBridge() throws {
        proxy.hold([.toBridge])
        try fleet.engine.command("CLIENT", "KILL", "TYPE", "normal")
        try fleet.engine.command("CLIENT", "KILL", "TYPE", "pubsub")
        // The bridge notices it without a call of a client.
        try host.bridge.program.line(containing: "no answer from 127.0.0.1:\(proxy.port) within 2 s")
        #expect(try outcome { try host.start("refused", .seconds(3_600)) } == .notMade)
        proxy.release()
        try expectEqualAgain()
    }

    @Test("a connection for changes that the network has forgotten is made again before a change needs it")
    func forgottenConnection() throws {
        // It is the first one that a bridge makes.
        proxy.hold(connection: 0)
        try host.bridge.program.line(containing: "no answer from 127.0.0.1:\(proxy.port) within 2 s")
        try host.bridge.program.line(containing: "connected to")
        #expect(try outcome { try host.start("new", .seconds(3_600)) } == .made)
        try expectEqualAgain()
    }

    @Test("half-open: a bridge that is killed unnoticed by the engine is in nobody's way")
    func halfOpenAtEngine() throws {
        proxy.hold([.toEngine])
        let caller = try Caller(of: host.daemon)
        try caller.send(Start(key: "kept", durationUSec: 1_000_000, ifRunning: .extend))
        try host.bridge.program.kill()
        let outcome = try self.outcome { try caller.answer(to: Start.self).value }
        #expect(outcome != .made)
        #expect(try fleet.hosts[1].start("kept", .seconds(60), .extend).outcome == .extended)
        try host.bridge.start()
        #expect(try self.outcome { try host.start("refused", .seconds(3_600)) } != .made)
        proxy.release()
        try fleet.awaitChanges()
        let kept = try #require(fleet.awaitEqual()["kept"]).duration
        #expect(kept == .hour + 60_000_000 || outcome == .unknown && kept == .hour + 61_000_000)
    }

    @Test(
        "connections that are cut within a command or a reply: each change that was answered is made once",
        arguments: NetworkProxy.Direction.allCases
    )
    func cuts(direction: NetworkProxy.Direction) throws {
        var generator = SeededGenerator(seed: 1)
        var (made, unknown) = (0, 0)
        for _ in 0..<6 {
            proxy.cut(after: Int.random(in: 1...1_500, using: &generator), direction)
            for _ in 0..<5 {
                switch try outcome(of: { try host.start("kept", .seconds(1), .extend) }) {
                case .made: made += 1
                case .unknown: unknown += 1
                case .notMade: break
                }
            }
            try host.awaitChanges()
        }
        try expectEqualAgain()
        let extensions = (try #require(fleet.awaitEqual()["kept"]).duration - .hour) / 1_000_000
        #expect((made...made + unknown).contains(Int(extensions)))
        #expect(made > 0)
    }

    @Test("a slow network: changes are made, and hosts hear of them")
    func delay() throws {
        proxy.delay(by: .milliseconds(100))
        let watch = try host.watch()
        #expect(try host.start("short", .seconds(1)).outcome == .started)
        #expect(try fleet.hosts[1].start("new", .seconds(3_600)).outcome == .started)
        try watch.events(through: .finished, of: "short")
        // Ends may be announced twice.
        try host.bridge.program.line(containing: "use a greater margin= in the URLs of all bridges")
        proxy.delay(by: .zero)
        try expectEqualAgain()
    }
}
