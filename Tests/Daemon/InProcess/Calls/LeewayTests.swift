import CountdownCore
import IPC
import TestSupport
import Testing

@testable import countdownd

@Suite("Leeway")
struct LeewayTests {
    @Test(
        "countdowns that end close to each other end at one wake-up, in order, and none early",
        arguments: [0, 500]
    )
    func sharesWakeUps(milliseconds: Int64) throws {
        // All of it takes less than a second, after which a daemon without inotify looks at its socket.
        var options = Options()
        options.leeway = .milliseconds(milliseconds)
        let daemon = try SmallDaemon(options: options)
        let (caller, follower) = (try daemon.caller(), try daemon.watch())
        let now = try caller.call(Start(key: "now")).countdown.startedUSec
        let deadlines = (0..<20).map { now + .milliseconds(100 + 4 * $0) }
        for (number, deadline) in deadlines.enumerated() {
            _ = try caller.call(Start(key: "\(number)", deadlineUSec: deadline))
        }
        try follower.events(through: .started, of: "19")
        let turns = try caller.call(GetStatus()).counters["turns"] ?? 0
        // It was set after the turn before this call.
        #expect(daemon.time.alarm == WallInstant(microseconds: deadlines[0] + .milliseconds(milliseconds)))
        daemon.time.pass(.milliseconds(99 + milliseconds))
        daemon.time.pass(.milliseconds(1))
        var ends: [Event] = []
        for number in 0..<20 {
            if milliseconds == 0, number > 0 { daemon.time.pass(.milliseconds(4)) }
            ends.append(try follower.next())
        }
        #expect(ends.map(\.key) == (0..<20).map { "\($0)" })
        #expect(ends.map(\.countdown?.endedUSec) == deadlines)
        #expect(ends.map(\.lateUSec) == (0..<20).map { max(0, .milliseconds(milliseconds - 4 * $0)) })
        let turnsOfEnds = try (caller.call(GetStatus()).counters["turns"] ?? 0) - turns - 1
        #expect(milliseconds == 0 ? turnsOfEnds >= 20 : turnsOfEnds == 1)
    }
}
