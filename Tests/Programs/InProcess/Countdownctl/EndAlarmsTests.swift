import IPC
import Testing

@testable import countdownctl

@Suite("The instants at which a time is left")
struct EndAlarmsTests {
    /// The system clock, of which the boot clock is 1,000 s behind.
    private static let wall: Int64 = 2_000_000_000

    private func running(_ key: String, seconds: Int64, at wall: Int64 = wall) -> Countdown {
        var countdown = countdown(key, seconds)
        countdown.deadlineUSec = wall + seconds * 1_000_000
        return countdown
    }

    private func receive(_ countdown: Countdown, _ alarms: inout EndAlarms, after seconds: Int64 = 0) {
        let wall = Self.wall + seconds * 1_000_000
        let event = Event(type: .attached, key: countdown.key, countdown: countdown)
        alarms.receive(event, lead: 60_000_000, wall: wall, boot: wall - 1_000_000_000)
    }

    private func boot(_ seconds: Int64) -> Int64 { Self.wall - 1_000_000_000 + seconds * 1_000_000 }

    @Test("a countdown is due once, when the time is left; one that has no more left is not")
    func due() {
        var alarms = EndAlarms()
        receive(running("tea", seconds: 100), &alarms)
        receive(running("egg", seconds: 70), &alarms)
        receive(running("short", seconds: 60), &alarms)
        #expect(alarms.next == boot(10))
        #expect(alarms.takeDue(at: boot(10) - 1).isEmpty)
        let first = alarms.takeDue(at: boot(10))
        #expect(first.map(\.key) == ["egg"] && first.map(\.remainingUSec) == [60_000_000])
        #expect(alarms.takeDue(at: boot(11)).isEmpty && alarms.next == boot(40))
        // After a sleep, it is due late, with the time that is left.
        #expect(alarms.takeDue(at: boot(90)).map(\.remainingUSec) == [10_000_000])
        #expect(alarms.next == nil)
    }

    @Test("a change moves the instant; after a pause, an end or a sleep beyond the end nothing is due")
    func changes() {
        var alarms = EndAlarms()
        receive(running("tea", seconds: 100), &alarms)
        receive(running("tea", seconds: 200), &alarms)
        #expect(alarms.next == boot(140))
        var paused = countdown("tea", 100)
        paused.state = .paused
        paused.deadlineUSec = nil
        receive(paused, &alarms)
        #expect(alarms.next == nil)
        receive(running("tea", seconds: 100), &alarms)
        receive(running("egg", seconds: 90), &alarms)
        var ended = running("egg", seconds: 90)
        ended.state = .cancelled
        receive(ended, &alarms)
        #expect(alarms.next == boot(40))
        #expect(alarms.takeDue(at: boot(100)).isEmpty && alarms.next == nil)
    }

    @Test("if the system clock was set, a countdown gets another instant, also after its alarm")
    func clockSteps() {
        var alarms = EndAlarms()
        receive(running("call", seconds: 700), &alarms)
        let event = Event(type: .adjusted, key: "call", remainingUSec: 100_000_000)
        for _ in 1...2 {
            alarms.receive(event, lead: nil, wall: Self.wall + 500_000_000, boot: boot(0))
            #expect(alarms.next == boot(40))
            let due = alarms.takeDue(at: boot(40))
            #expect(due.map(\.deadlineUSec) == [Self.wall + 600_000_000] && alarms.next == nil)
        }
    }
}
