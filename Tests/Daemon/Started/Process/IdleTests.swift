import IPC
import TestSupport
import Testing
import Varlink

@Suite("A daemon that has nothing to do")
struct IdleTests {
    private func wakeUps(_ caller: Caller) throws -> Int64 {
        try #require(try caller.call(GetStatus()).counters["wakeUps"])
    }

    /// The fewest wake-ups in one of three spells, including the call of GetStatus at its end. On a busy machine, work of the
    /// spell before may fall into a spell; wake-ups that the daemon causes by itself fall into each.
    private func fewestWakeUps(in spell: Duration, of caller: Caller) throws -> Int64 {
        var fewest = Int64.max
        for _ in 0..<3 {
            let before = try wakeUps(caller)
            letPass(spell)
            fewest = min(fewest, try wakeUps(caller) - before)
        }
        return fewest
    }

    @Test("only calls wake it while countdowns end later, a watch has no ticks, and a countdown with ticks is paused")
    func nothingDue() throws {
        let daemon = try DaemonProcess()
        let caller = try Caller(of: daemon)
        for number in 0..<1_000 {
            let length = Int64.seconds(3_600) + Int64(number) * 1_234_567
            try caller.send(Start(key: "\(number)", durationUSec: length), oneway: true)
        }
        #expect(try caller.call(GetStatus()).running == 1_000)
        let silent = try daemon.watch()
        let ticking = try daemon.watch(Watch(tick: .milliseconds(20), keys: ["tea"]))
        _ = try caller.call(Start(key: "tea"))
        try ticking.events(through: .tick)
        _ = try caller.call(Pause(key: "tea"))
        for follower in [silent, ticking] { try follower.events(through: .paused) }
        #expect(try fewestWakeUps(in: .seconds(1), of: caller) == 1)
    }

    @Test("a watcher that has gone leaves no ticks and heartbeats behind")
    func watcherGone() throws {
        let daemon = try DaemonProcess()
        let caller = try Caller(of: daemon)
        for number in 0..<100 { _ = try caller.call(Start(key: "\(number)", durationUSec: .seconds(3_600))) }
        do {
            let follower = try Follower(of: daemon, Watch(tick: .milliseconds(10), heartbeat: .seconds(1)))
            try follower.events(through: .tick)
        }
        try waitUntil("the end of the watcher") { try caller.call(GetStatus()).connections <= 1 }
        #expect(try fewestWakeUps(in: .milliseconds(1_500), of: caller) == 1)
    }
}
