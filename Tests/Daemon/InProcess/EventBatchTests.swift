import Testing
import Varlink

@testable import countdownd

@Suite("A batch of events")
struct EventBatchTests {
    @Test("events keep their order, have commas between them, and are counted")
    func events() {
        var round = EventBatch()
        #expect(round.count == 0)
        round.append { $0.object { _ in } }
        round.append { $0.object { $0.member("number", 1) } }
        round.append { $0.object { _ in } }
        #expect(round.events.bytes.elementsEqual(#"{},{"number":1},{}"#.utf8))
        #expect(round.count == 3 && round.events.count == 18)
        round.removeEvents()
        #expect(round.count == 0 && round.events.count == 0)
        round.append { $0.object { $0.member("number", 2) } }
        #expect(round.events.bytes.elementsEqual(#"{"number":2}"#.utf8))
    }
}
