import IPC
import TestSupport
import Testing
import Varlink

@Suite("Countdowns with forget")
struct ForgetTests {
    @Test("after a countdown with forget has ended, the older end under the key is the answer again")
    func olderEnd() throws {
        let daemon = try DaemonProcess()
        let caller = try Caller(of: daemon)
        _ = try caller.call(Start(key: "tea"))
        let kept = try caller.call(Finish(key: "tea")).countdown
        _ = try caller.call(Start(key: "tea", forget: true))
        #expect(try caller.call(Finish(key: "tea")).countdown.revision > kept.revision)
        #expect(try caller.call(Get(key: "tea")).countdown == kept)
        #expect(try caller.call(Wait(key: "tea")).countdown == kept)
        #expect(try caller.call(List(states: State.allCases)).countdowns == [kept])
        #expect(try caller.call(List(states: State.allCases, keys: ["tea"])).countdowns == [kept])
    }

    @Test("ten thousand countdowns with forget compact no other end")
    func pushNothingOut() throws {
        let daemon = try DaemonProcess()
        let caller = try Caller(of: daemon)
        let since = try caller.call(GetStatus()).revision
        let kitchen = try caller.call(Start(key: "kitchen")).countdown
        _ = try caller.call(Finish(key: "kitchen"))
        let watch = try RawWatch(of: daemon, "limit/*", since: since)
        while try !watch.reply().contains(#"{"type":"synced""#) {}
        for batch in 0..<20 {
            let calls = (0..<500).map { number in
                #"{"method":"io.countdownd.Start","oneway":true,"#
                    + #""parameters":{"key":"limit/\#(batch)/\#(number)","durationUSec":1000,"forget":true}}"#
            }
            try caller.connection.send(Array((calls.joined(separator: "\0") + "\0").utf8))
            var ended: [String] = []
            while ended.count < 500 { ended += RawWatch.keys(of: .finished, in: try watch.reply()) }
            #expect(Set(ended).count == 500)
        }

        #expect(try caller.call(Get(key: "kitchen")).countdown.startedUSec == kitchen.startedUSec)
        #expect(try caller.call(List(states: State.allCases)).countdowns.map(\.key) == ["kitchen"])
        let status = try caller.call(GetStatus())
        #expect(status.running == 0)
        #expect(status.counters["endings"] == 10_000)
        let missed = try Follower(of: daemon, Watch(since: since)).events(through: .synced)
        #expect(missed.map(\.key) == ["kitchen", nil])
    }
}
