import IPC
import TestSupport
import Testing
import Varlink

@Suite("Starting a countdown that another client has left")
struct ReattachTests {
    private let daemon: SmallDaemon

    init() throws {
        daemon = try SmallDaemon()
    }

    /// The reply to a client that then leaves.
    private func visit(_ start: Start) throws -> Start.Reply {
        try Caller(of: daemon).call(start)
    }

    @Test("Start on a countdown of a client that has left attaches, returns the remaining time, and changes nothing")
    func attaches() throws {
        let first = try visit(Start(key: "tea", durationUSec: .seconds(60), label: "Green tea", metadata: ["cup": "1"]))
        #expect(first.outcome == .started)
        #expect(first.countdown.remainingUSec == .seconds(60))

        let second = try visit(Start(key: "tea", durationUSec: .seconds(5), label: "Other", forget: true))
        #expect(second.outcome == .attached)
        #expect((1..<Int64.seconds(60)).contains(second.countdown.remainingUSec))
        var unchanged = second.countdown
        unchanged.remainingUSec = first.countdown.remainingUSec
        #expect(unchanged == first.countdown)
    }

    @Test("a Start that only attaches causes no event")
    func attachingIsNoChange() throws {
        let follower = try Follower(of: daemon, Watch(tick: .zero))
        try follower.events(through: .synced)
        _ = try visit(Start(key: "tea"))
        _ = try visit(Start(key: "tea"))
        _ = try visit(Start(key: "coffee"))
        #expect(try follower.next().key == "tea")
        #expect(try follower.next().key == "coffee")
    }

    @Test("after its end a countdown can be started again")
    func startsAnew() throws {
        let first = try visit(Start(key: "tea", durationUSec: .milliseconds(20)))
        _ = try Caller(of: daemon).call(Wait(key: "tea"))
        let second = try visit(Start(key: "tea", durationUSec: .seconds(60)))
        #expect(second.outcome == .started)
        #expect(second.countdown.remainingUSec == .seconds(60))
        #expect(second.countdown.revision > first.countdown.revision)
    }

    @Test("a Start without a duration takes 60 s, also the second time")
    func takesAMinute() throws {
        #expect(try visit(Start(key: "code")).countdown.durationUSec == .seconds(60))
        #expect(try visit(Start(key: "code")).countdown.durationUSec == .seconds(60))
    }

    @Test("a paused countdown is found paused, with its remaining time")
    func findsPaused() throws {
        _ = try visit(Start(key: "tea"))
        let paused = try Caller(of: daemon).call(Pause(key: "tea")).countdown
        let found = try visit(Start(key: "tea"))
        #expect(found.outcome == .attached)
        #expect(found.countdown == paused)
    }

    @Test("messages that are typed by hand do the same")
    func typedByHand() throws {
        let call =
            #" { "method" : "io.countdownd.Start" , "parameters" : { "key" : "tea" , "durationUSec" : 60000000 } } "#
        let first = try daemon.connect().exchange(call + "\n")
        #expect(first.hasPrefix(#"{"parameters":{"outcome":"started","countdown":{"key":"tea","state":"running","#))
        #expect(first.contains(#""durationUSec":60000000,"remainingUSec":60000000,"#))
        let second = try daemon.connect().exchange(call)
        #expect(second.hasPrefix(#"{"parameters":{"outcome":"attached","countdown":{"key":"tea","state":"running","#))
        #expect(!second.contains(#""remainingUSec":60000000,"#))
        let ended = try daemon.connect().exchange(#"{"method":"io.countdownd.Finish","parameters":{"key":"tea"}}"#)
        #expect(ended.contains(#""state":"finished","#) && ended.contains(#""remainingUSec":0,"#))
        let third = try daemon.connect().exchange(call)
        #expect(third.hasPrefix(#"{"parameters":{"outcome":"started","#))
    }
}
