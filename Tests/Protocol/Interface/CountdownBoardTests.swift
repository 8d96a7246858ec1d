import IPC
import Testing
import Varlink

@Suite("The board of live countdowns")
struct CountdownBoardTests {
    private func countdown(
        _ key: String,
        _ state: Countdown.State = .running,
        remaining: Int64 = 100,
        deadline: Int64 = 1_000
    ) -> Countdown {
        Countdown(
            key: key,
            state: state,
            clock: .elapsed,
            durationUSec: 100,
            remainingUSec: remaining,
            startedUSec: 0,
            deadlineUSec: state == .running ? deadline : nil,
            revision: 1
        )
    }

    private func event(_ type: Event.Kind, _ countdown: Countdown) -> Event {
        Event(type: type, revision: 1, key: countdown.key, remainingUSec: countdown.remainingUSec, countdown: countdown)
    }

    @Test("countdowns whose keys only Unicode normalization makes equal are two")
    func bytes() {
        var board = CountdownBoard()
        let (one, other) = (countdown("\u{E9}"), countdown("e\u{301}", remaining: 50))
        for countdown in [one, other] { _ = board.apply(event(.started, countdown)) }
        #expect(board.countdowns.count == 2)
        #expect(board.countdowns["e\u{301}"]?.remainingUSec == 50)
        _ = board.apply(event(.finished, countdown("\u{E9}", .finished)))
        #expect(board.countdowns.keys.map { Array($0.utf8) } == [Array("e\u{301}".utf8)])
    }

    @Test("a countdown is on the board from its start to its end")
    func lives() {
        var board = CountdownBoard()
        let tea = countdown("tea")
        #expect(board.apply(event(.started, tea)) == .updated(tea))
        var later = tea
        later.remainingUSec = 50
        #expect(board.apply(Event(type: .tick, key: "tea", remainingUSec: 50)) == .ticked(later))
        #expect(board.countdowns == ["tea": later])
        let end = countdown("tea", .finished, remaining: 0)
        #expect(board.apply(event(.finished, end)) == .ended(end))
        #expect(board.countdowns.isEmpty)
    }

    @Test("ticks of countdowns that are not on the board, and heartbeats, change nothing")
    func ignores() {
        var board = CountdownBoard()
        #expect(board.apply(Event(type: .tick, key: "tea", remainingUSec: 50)) == nil)
        #expect(board.apply(Event(type: .heartbeat, revision: 3)) == nil)
        #expect(!board.isSynced)
        #expect(board.apply(Event(type: .synced, revision: 3)) == nil)
        #expect(board.isSynced)
    }

    @Test("forgotten countdowns leave the board, and a watch that begins again empties it")
    func forgotten() {
        var board = CountdownBoard()
        for key in ["a", "b", "c"] { _ = board.apply(event(.attached, countdown(key))) }
        _ = board.apply(Event(type: .synced, revision: 3))
        board.apply(WatchEvent.lost(.disconnected))
        board.apply(WatchEvent.forgotten(["a", "c"]))
        #expect(Array(board.countdowns.keys) == ["b"])
        board.apply(WatchEvent.historyTrimmed(oldestRevision: 8))
        #expect(board.countdowns.isEmpty && !board.isSynced)
    }

    @Test("countdowns are ordered by their ends, paused ones last, and equal ones by their keys")
    func order() {
        var board = CountdownBoard()
        for (key, deadline) in [("late", 9), ("b", 5), ("a", 5)] as [(String, Int64)] {
            _ = board.apply(event(.attached, countdown(key, deadline: deadline)))
        }
        _ = board.apply(event(.attached, countdown("paused", .paused, remaining: 1)))
        #expect(board.soonest().map(\.key) == ["a", "b", "late", "paused"])
        #expect(board.soonest(2).map(\.key) == ["a", "b"])
        #expect(board.soonest(0).isEmpty)
    }

    @Test("the first of many countdowns are the same as after sorting all of them")
    func firstOfMany() {
        var board = CountdownBoard()
        for number in 0..<3_000 as Range<Int64> {
            _ = board.apply(event(.attached, countdown("\(number)", deadline: number * 7_919 % 3_001)))
        }
        #expect(board.soonest(10) == Array(board.soonest().prefix(10)))
    }

    @Test("running countdowns count on, down to nothing, from what was reported last")
    func counting() {
        var board = CountdownBoard()
        board.count(to: .seconds(7))
        for key in ["a", "b"] { _ = board.apply(event(.attached, countdown(key, deadline: 1_000))) }
        _ = board.apply(event(.attached, countdown("paused", .paused, remaining: 7)))
        board.count(to: .seconds(7) + .microseconds(90))
        #expect(board.countdowns.mapValues(\.remainingUSec) == ["a": 10, "b": 10, "paused": 7])
        _ = board.apply(event(.adjusted, countdown("b", deadline: 2_000)))
        board.count(to: .seconds(8))
        #expect(board.countdowns.mapValues(\.remainingUSec) == ["a": 0, "b": 0, "paused": 7])
    }
}
