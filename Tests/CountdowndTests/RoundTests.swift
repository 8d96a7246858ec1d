import Testing

@testable import countdownd

@Suite("A round of events")
struct RoundTests {
    @Test("events stand in their order, with commas between them, and are counted")
    func events() {
        var round = Round()
        #expect(round.isEmpty)
        for event in ["{}", "1", "2"] { round.append(Array(event.utf8)) }
        #expect(round.bytes.elementsEqual("{},1,2".utf8))
        #expect(round.count == 3)
        round.removeEvents()
        #expect(round.isEmpty && round.bytes.isEmpty)
        round.append(Array("3".utf8))
        #expect(round.bytes.elementsEqual("3".utf8))
    }
}
