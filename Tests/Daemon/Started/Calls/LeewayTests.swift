import IPC
import TestSupport
import Testing
import Varlink

@Suite("Leeway")
struct LeewayTests {
    /// Twenty countdowns that end one shortly after the other: their events, and how often the daemon woke up
    /// from the time when they were all started until they had all ended.
    private func run(_ arguments: [String]) throws -> (endings: [Event], wakeUps: Int64) {
        let daemon = try DaemonProcess(arguments: arguments)
        let caller = try Caller(of: daemon)
        let follower = try daemon.watch()
        var long = Start(key: "now", durationUSec: .seconds(3_600))
        _ = try caller.call(long)
        // The status of the first countdown is due a second after that of the start, and would take ends along.
        try daemon.notification("STATUS=1 running")
        long.ifRunning = .restart
        let now = try caller.call(long).countdown.startedUSec
        let deadlines = (0..<20).map { now + .milliseconds(700) + .milliseconds(40) * Int64($0) }
        for (number, deadline) in deadlines.enumerated() {
            try caller.send(Start(key: "\(number)", deadlineUSec: deadline))
        }
        try caller.send(GetStatus())
        for _ in deadlines { _ = try caller.answer(to: Start.self) }
        let before = try caller.answer(to: GetStatus.self).value
        #expect(before.running == 21)
        let endings = try follower.events(through: .finished, of: "19").filter { $0.type == .finished }
        let after = try caller.call(GetStatus())
        #expect(endings.map(\.countdown?.endedUSec) == deadlines)
        return (endings, (after.counters["wakeUps"] ?? 0) - (before.counters["wakeUps"] ?? 0))
    }

    @Test("with a leeway, countdowns that end close to each other end at one wake-up, in order, and none early")
    func sharesWakeUps() throws {
        let exact = try run([])
        let shared = try run(["--leeway", "1s"])
        for endings in [exact.endings, shared.endings] {
            #expect(endings.map(\.key) == (0..<20).map { "\($0)" })
            #expect(endings.allSatisfy { ($0.lateUSec ?? -1) >= 0 })
        }
        #expect(shared.endings.first?.lateUSec ?? 0 >= .milliseconds(900))
        #expect(shared.wakeUps < exact.wakeUps)
        // One for the end and one for the second GetStatus; one more if the ends coincide with it.
        #expect(shared.wakeUps <= 3)
    }
}
