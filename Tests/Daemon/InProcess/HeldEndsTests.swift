import CountdownCore
import IPC
import TestSupport
import Testing
import Varlink

@testable import countdownd

/// Ends that are compacted while a watch reads the current state.
@Suite("Ends that come while a watch reads the state")
struct HeldEndsTests {
    private static let live = 2_000

    /// A daemon that keeps no history, with more countdowns than fit into a socket's buffer.
    private func crowdedDaemon(_ limits: (inout Limits) -> Void = { _ in }) throws -> (SmallDaemon, Caller) {
        let daemon = try SmallDaemon {
            $0.history = 0
            limits(&$0)
        }
        let caller = try daemon.caller()
        let metadata: TextMap<String> = ["note": String(repeating: "n", count: 400)]
        for number in 0..<Self.live { try caller.send(Start(key: "\(number)", metadata: metadata), oneway: true) }
        #expect(try caller.call(GetStatus()).running == Self.live)
        return (daemon, caller)
    }

    /// Ends the last countdowns, one after the other, and compacts the history in between.
    private func finish(_ count: Int, _ caller: Caller) throws -> [String] {
        let keys = (Self.live - count..<Self.live).map { "\($0)" }
        for key in keys { _ = try caller.call(Finish(key: key)) }
        return keys
    }

    @Test("a watch without since gets all of them and reaches synced, though no history is kept")
    func held() throws {
        let (daemon, caller) = try crowdedDaemon()
        let follower = try daemon.follower(IPC.Watch(tick: .zero))
        #expect(try follower.next().type == .attached)
        // The watch cannot have finished: nothing more is read until these have ended.
        let ended = try finish(300, caller)
        let events = try follower.events(through: .synced)
        #expect(events.filter { $0.type == .finished }.compactMap(\.key) == ended)
        // No end is held any more.
        _ = try caller.call(GetStatus())
        #expect(try caller.call(List(states: [.finished])).countdowns.isEmpty)
    }

    @Test("a watch without since meets a limit, never HistoryTrimmed, if they are more than may be held")
    func tooMany() throws {
        let (daemon, caller) = try crowdedDaemon { $0.endsHeldForWatches = 100 }
        let follower = try daemon.follower(IPC.Watch(tick: .zero))
        #expect(try follower.next().type == .attached)
        _ = try finish(300, caller)
        #expect(throws: CountdownError.limitReached(limit: "endsHeldForWatches", maximum: 100)) {
            try follower.events(through: .synced)
        }
    }
}
