import Testing

@testable import IPC

@Suite("The keys that a watch has reported")
struct ReportedKeysTests {
    private var keys = ReportedKeys()

    private func event(_ type: Event.Kind, _ key: String) -> Event {
        let countdown = Countdown(
            key: key,
            state: .running,
            clock: .elapsed,
            durationUSec: 1,
            remainingUSec: 1,
            startedUSec: 0,
            forget: true,
            revision: 1
        )
        return Event(type: type, key: key, remainingUSec: 1, countdown: type == .tick ? nil : countdown)
    }

    init() { keys.receive(["a", "b", "c", "d"].map { event(.attached, $0) }) }

    @Test("those that the next connection does not report are forgotten, each once")
    mutating func forget() {
        #expect(!keys.areUnconfirmed)
        keys.restart()
        keys.receive([event(.paused, "a"), event(.tick, "b"), event(.finished, "c")])
        #expect(keys.areUnconfirmed)
        let forgotten = keys.forget()
        #expect(forgotten == ["d"])
        keys.restart()
        let again = keys.forget()
        #expect(again == ["a", "b"])
    }

    @Test("the report of a connection that is lost, too, does not count")
    mutating func lostTwice() {
        keys.restart()
        keys.receive([event(.attached, "a")])
        keys.restart()
        keys.confirm("b")
        let forgotten = keys.forget()
        #expect(forgotten == ["a", "c", "d"])
    }
}
