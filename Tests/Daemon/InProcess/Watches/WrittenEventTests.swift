import CountdownCore
import IPC
import Testing
import Varlink

@testable import countdownd

@Suite("An event of the daemon")
struct WrittenEventTests {
    private static let phases: [Phase] = [
        .running(until: .wall(WallInstant(microseconds: 90_000_000))), .paused(remaining: .seconds(7)),
        .finished(at: WallInstant(microseconds: 60_000_001), late: Duration(microseconds: 1)),
        .cancelled(at: WallInstant(microseconds: 2), remaining: .seconds(3)),
    ]

    @Test("it is written with the members of a client's event, in their order", arguments: phases, [nil, "Tea \"2\""])
    func members(phase: Phase, label: String?) throws {
        let countdown = KeyedCountdown(
            key: try Key("t\"a"),
            phase: phase,
            clock: .wall,
            duration: .seconds(60),
            started: WallInstant(microseconds: 1),
            label: label,
            metadata: label == nil ? [:] : ["cup": "2"],
            revision: Revision(7)
        )
        let now = Now(boot: BootInstant(microseconds: 0), offset: .seconds(50))
        var writer = JSONWriter()
        Translation(limits: Limits()).write(.current(countdown), at: now, into: &writer)
        let event = try Event(json: writer.bytes)
        #expect(event.countdown?.label == label)
        #expect(event.countdown?.metadata == (label == nil ? nil : ["cup": "2"]))
        var again = JSONWriter()
        again.element(event)
        #expect(String(decoding: again.bytes, as: UTF8.self) == String(decoding: writer.bytes, as: UTF8.self))
    }
}
