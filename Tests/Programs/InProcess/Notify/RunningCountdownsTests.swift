import IPC
import Testing
import Varlink

@testable import countdown_notify

@Suite("Warnings and wake-ups of running countdowns")
struct RunningCountdownsTests {
    private let second: Int64 = 1_000_000
    private var countdowns = RunningCountdowns(AnnouncementRules(warningUSec: 30_000_000))

    private mutating func receive(
        _ type: Event.Kind,
        _ key: String = "tea",
        remaining: Int64,
        metadata: TextMap<String> = [:],
        boot: Int64 = 0,
        wall: Int64 = 0
    ) {
        var countdown = running(key, remaining: remaining)
        countdown.deadlineUSec = wall + remaining
        countdown.metadata = metadata
        countdowns.receive(event(type, countdown), boot: boot, wall: wall)
    }

    private mutating func warned(at boot: Int64) -> [String] { countdowns.takeWarnings(boot: boot).map(\.key) }

    @Test("a countdown that is shorter than its warning, or that has ended or was paused, has none")
    mutating func none() {
        receive(.started, remaining: 30 * second)
        #expect(countdowns.nextWarning == nil)
        for type in [Event.Kind.finished, .cancelled, .paused] {
            receive(.started, remaining: 100 * second)
            var countdown = type == .paused ? running("tea", isPaused: true) : ended("tea")
            if type == .cancelled { countdown.state = .cancelled }
            countdowns.receive(event(type, countdown), boot: 0, wall: 0)
            let due = warned(at: 200 * second)
            #expect(due.isEmpty)
        }
    }

    @Test("after more time was added it comes again, and after a reconnection it does not")
    mutating func again() {
        receive(.started, remaining: 100 * second)
        _ = warned(at: 70 * second)
        countdowns.clear()
        receive(.attached, remaining: 30 * second, boot: 70 * second)
        #expect(countdowns.nextWarning == nil)
        receive(.adjusted, remaining: 60 * second, boot: 70 * second)
        #expect(countdowns.nextWarning == 100 * second)
    }

    @Test("a report from before a suspend does not move the end")
    mutating func stale() {
        var tea = running("tea", remaining: 100 * second)
        tea.deadlineUSec = 100 * second
        tea.metadata = ["wake": "yes"]
        // It was sent at 0 and is received 60 s later.
        countdowns.receive(event(.started, tea), boot: 60 * second, wall: 60 * second)
        #expect(countdowns.nextWake == 100 * second)
    }

    @Test("setting the system clock moves the end of a countdown that follows it")
    mutating func clockSet() {
        receive(.started, remaining: 100 * second, metadata: ["wake": "yes"])
        countdowns.receive(
            Event(type: .adjusted, key: "tea", remainingUSec: 50 * second),
            boot: 10 * second,
            wall: 60 * second
        )
        #expect(countdowns.nextWake == 60 * second)
        #expect(countdowns.nextWarning == 30 * second)
        countdowns.receive(Event(type: .adjusted, key: "egg", remainingUSec: 1), boot: 0, wall: 0)
        #expect(countdowns.nextWake == 60 * second)
    }

    @Test("the machine is woken for the soonest countdown with wake=yes, and not for one that is over")
    mutating func wakes() {
        receive(.started, "rice", remaining: 10 * second)
        #expect(countdowns.nextWake == nil)
        receive(.started, "egg", remaining: 300 * second, metadata: ["wake": "yes"])
        receive(.started, "tea", remaining: 200 * second, metadata: ["wake": "yes"])
        #expect(countdowns.nextWake == 200 * second)
        countdowns.woken(boot: 200 * second)
        #expect(countdowns.nextWake == 300 * second)
        countdowns.receive(event(.finished, ended("tea")), boot: 201 * second, wall: 0)
        countdowns.receive(event(.cancelled, ended("egg")), boot: 201 * second, wall: 0)
        #expect(countdowns.nextWake == nil)
    }

    @Test("metadata that is not valid is reported")
    mutating func invalid() {
        var tea = running("tea")
        tea.metadata = ["warn": "x"]
        var sentences: [String] = []
        countdowns.receive(event(.started, tea), boot: 0, wall: 0) { sentences.append($0) }
        #expect(sentences.count == 1)
    }
}
