import IPC
import TestSupport
import Testing
import Varlink

@Suite("Countdowns with forget")
struct ForgetTests {
    @Test("after a countdown with forget has ended, the older end under the key is the answer again")
    func olderEnd() throws {
        let daemon = try SmallDaemon()
        let caller = try Caller(of: daemon)
        _ = try caller.call(Start(key: "tea"))
        let kept = try caller.call(Finish(key: "tea")).countdown
        _ = try caller.call(Start(key: "tea", forget: true))
        #expect(try caller.call(Finish(key: "tea")).countdown.revision > kept.revision)
        #expect(try caller.call(Get(key: "tea")).countdown == kept)
        #expect(try caller.call(Wait(key: "tea")).countdown == kept)
        #expect(try caller.call(List(states: Countdown.State.allCases)).countdowns == [kept])
        #expect(try caller.call(List(states: Countdown.State.allCases, keys: ["tea"])).countdowns == [kept])
    }
}
