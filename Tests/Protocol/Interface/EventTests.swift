import IPC
import Testing
import Varlink

@Suite("An event")
struct EventTests {
    private func text(_ event: Event) -> String { JSON.text { event.encode(into: &$0) } }

    private func countdown(label: String? = nil) -> Countdown {
        Countdown(
            key: "t\"a",
            state: .finished,
            clock: .wall,
            durationUSec: 60_000_000,
            remainingUSec: 0,
            startedUSec: 1,
            deadlineUSec: nil,
            endedUSec: 60_000_001,
            label: label,
            revision: 7
        )
    }

    @Test("it has the members of its fields, in their order")
    func order() {
        #expect(text(Event(type: .synced, revision: -1)) == #"{"type":"synced","revision":-1}"#)
        #expect(
            text(Event(type: .tick, key: "t\"a", remainingUSec: 5))
                == #"{"type":"tick","key":"t\"a","remainingUSec":5}"#
        )
        let event = Event(
            type: .finished,
            revision: 7,
            key: "t\"a",
            remainingUSec: 0,
            lateUSec: 12,
            countdown: countdown(label: "Tea")
        )
        #expect(
            text(event) == """
                {"type":"finished","revision":7,"key":"t\\"a","remainingUSec":0,"lateUSec":12,"countdown":{"key":"t\\"a",\
                "state":"finished","clock":"wall","durationUSec":60000000,"remainingUSec":0,"startedUSec":1,\
                "endedUSec":60000001,"label":"Tea","forget":false,"revision":7}}
                """
        )
    }
}
