import IPC
import TestSupport
import Testing

/// Rates whose tokens come faster than the margin, with real engines.
@Suite("Rates on an engine", .serialized)
struct RateTrials {
    @Test("a burst is accepted as a whole, from many clients of one host", arguments: [20, 300])
    func burst(size: Int) throws {
        let fleet = try Fleet(hosts: 1)
        var load = RateLoad(fleet.hosts, every: .milliseconds(1_000 / size * 20), burst: size, clientsOfHost: size)
        try load.runOnce()
        #expect(load.accepted == size)
        #expect(load.failures.isEmpty)
    }

    @Test(
        "a flood on all hosts is refused above the limit, and nothing else fails",
        arguments: [(20, 10), (5, 3), (50, 20)]
    )
    func flood(milliseconds: Int, burst: Int) throws {
        let fleet = try Fleet()
        var load = RateLoad(fleet.hosts, every: .milliseconds(milliseconds), burst: burst, clientsOfHost: 4)
        let end = Deadline(after: .seconds(3))
        try load.run(during: { !end.hasPassed })
        #expect(load.failures.isEmpty)
        #expect(load.excess <= 0)
        #expect(load.accepted >= 3_000 / milliseconds / 2)
        #expect(load.refusals > load.accepted)
    }

    @Test("a network that is slow, changes its speed and swallows messages accepts no more than the limit")
    func network() throws {
        let fleet = try Fleet(hosts: 3)
        let proxy = try NetworkProxy(to: fleet.engine.port)
        for host in fleet.hosts[..<2] {
            try host.bridge.replaceURL("redis://127.0.0.1:\(proxy.port)/")
            try host.bridge.program.line(containing: "at 127.0.0.1:\(proxy.port), namespace")
        }
        try fleet.awaitChanges()
        var load = RateLoad(fleet.hosts, every: .milliseconds(20), burst: 10, clientsOfHost: 4)
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<6 {
            proxy.delay(by: .milliseconds(Int.random(in: 0...80, using: &generator)))
            let end = Deadline(after: .milliseconds(400))
            try load.run(during: { !end.hasPassed })
        }
        proxy.delay(by: .zero)
        #expect(load.failures.isEmpty)
        for directions in [[NetworkProxy.Direction.toBridge], [.toEngine]] {
            proxy.hold(directions)
            let end = Deadline(after: .seconds(3))
            try load.run(during: { !end.hasPassed })
            proxy.release()
            try fleet.awaitChanges()
        }
        #expect(load.excess <= 0)
        #expect(load.accepted > 100)
    }

    @Test("a failover accepts no more than the limit")
    func failover() throws {
        let engine = try ReplicatedEngine(replicas: 2, options: ["--min-replicas-to-write", "1"])
        var fleet = try Fleet(engine, urls: Array(repeating: engine.url(), count: 3))
        var load = RateLoad(fleet.hosts, every: .milliseconds(20), burst: 10, clientsOfHost: 3)
        let primary = fleet.engine
        let begin = Deadline(after: .seconds(1))
        try load.run(during: { !begin.hasPassed })
        #expect(load.failures.isEmpty)
        try primary.kill()
        try load.run(during: { try engine.primary().port == primary.port })
        fleet.engine = try engine.awaitFailover(from: primary)
        let end = Deadline(after: .seconds(2))
        try load.run(during: { !end.hasPassed })
        #expect(load.excess <= 0)
    }
}
