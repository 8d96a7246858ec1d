import CountdownCore
import IPC
import TestSupport
import Testing

@testable import countdownd

@Suite("The age of ends in a daemon")
struct HistoryAgeTests {
    @Test("no end is lost if the system clock is set, ahead for a moment or from 1970 to today")
    func clockSteps() throws {
        let time = DrivenTime(wall: WallInstant(microseconds: 60_000_000))
        let caller = try SmallDaemon(time: time).caller()
        let since = try caller.call(Start(key: "tea")).countdown.revision
        _ = try caller.call(Finish(key: "tea"))
        time.pass(.milliseconds(200), thenSetBy: .seconds(1_800_000_000))
        #expect(try caller.call(Get(key: "tea")).countdown.state == .finished)
        for step in [8, -8] as [Int64] {
            time.pass(.seconds(1), thenSetBy: .seconds(step * 86_400))
            _ = try caller.call(GetStatus())
        }
        #expect(try caller.call(Get(key: "tea")).countdown.state == .finished)
        #expect(try caller.call(GetStatus()).oldestRevision < since)
        time.pass(.seconds(7 * 86_400))
        _ = try caller.call(GetStatus())
        #expect(throws: CountdownError.noSuchCountdown(key: "tea")) { try caller.call(Get(key: "tea")) }
    }
}
