import IPC
import TestSupport
import Testing
import Varlink

@Suite("Starting a countdown that another client has left")
final class ReattachTests: SmallDaemonSuite {
    /// The reply to a client that then leaves.
    private func visit(_ start: Start) throws -> Start.Reply {
        try Caller(of: daemon).call(start)
    }

    @Test("Start on a countdown of a client that has left attaches, returns the remaining time, and changes nothing")
    func attaches() throws {
        let first = try visit(Start(key: "tea", durationUSec: .seconds(60), label: "Green tea", metadata: ["cup": "1"]))
        #expect(first.outcome == .started)
        #expect(first.countdown.remainingUSec == .seconds(60))

        time.pass(.seconds(1))
        let second = try visit(Start(key: "tea", durationUSec: .seconds(5), label: "Other", forget: true))
        #expect(second.outcome == .attached)
        #expect(second.countdown.remainingUSec == .seconds(59))
        var unchanged = second.countdown
        unchanged.remainingUSec = first.countdown.remainingUSec
        #expect(unchanged == first.countdown)
    }

    @Test("a Start that only attaches causes no event")
    func attachingIsNoChange() throws {
        let follower = try daemon.watch()
        _ = try visit(Start(key: "tea"))
        _ = try visit(Start(key: "tea"))
        _ = try visit(Start(key: "coffee"))
        #expect(try follower.next().key == "tea")
        #expect(try follower.next().key == "coffee")
    }
}
