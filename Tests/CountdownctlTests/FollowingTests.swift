import IPC
import Testing

@testable import countdownctl

@Suite("Following")
struct FollowingTests {
    @Test("a watch asks for what was selected")
    func asks() {
        let heartbeat = ResumableWatch.heartbeat
        let request = ResumableWatch(Selection(typed: ["t*", "tea"]), tick: 0, since: 5).request
        #expect(request == Watch(match: ["t*"], tickUSec: 0, since: 5, heartbeatUSec: heartbeat, keys: ["tea"]))
        #expect(ResumableWatch(Selection(typed: [])).request == Watch(heartbeatUSec: heartbeat))
    }

    @Test("what is typed with nothing of a pattern in it is a key")
    func selects() {
        let selection = Selection(typed: ["tea", "t?", "[a]", "login/*", "a]"])
        #expect(selection.keys == ["tea", "a]"])
        #expect(selection.patterns == ["t?", "[a]", "login/*"])
        #expect(!selection.isOne && Selection(typed: ["tea"]).isOne && !Selection(typed: ["*"]).isOne)
        #expect(Selection(typed: []).match == nil && Selection(typed: []).named == nil)
    }

    private func countdown(_ key: String, _ state: State, revision: Int64) -> Countdown {
        Countdown(
            key: key,
            state: state,
            clock: .elapsed,
            durationUSec: 10_000_000,
            remainingUSec: state == .finished ? 0 : 5_000_000,
            startedUSec: 1,
            revision: revision
        )
    }

    private func event(_ type: EventType, _ key: String, _ state: State, revision: Int64) -> Event {
        Event(type: type, revision: revision, key: key, countdown: countdown(key, state, revision: revision))
    }

    @Test("an end is noted once, and the worst code of all counts")
    func notesEnds() {
        var vigil = Vigil(["a", "b", "a"])
        #expect(vigil.open == ["a", "b"])
        let isEnd = [
            vigil.take(event(.attached, "a", .running, revision: 1)),
            vigil.take(event(.finished, "x", .finished, revision: 2)),
            vigil.take(event(.finished, "a", .finished, revision: 3)),
            vigil.take(event(.finished, "a", .finished, revision: 3)),
        ]
        #expect(isEnd == [false, false, true, false])
        #expect(vigil.hasEnd)
        #expect(vigil.status == .success)
        let isLast = vigil.take(event(.cancelled, "b", .cancelled, revision: 4))
        #expect(isLast)
        #expect(vigil.open.isEmpty)
        #expect(vigil.status == .notRunning)
    }

    @Test("keys that the watch says nothing of are looked up, and after another watch began all again")
    func asksAfterUnheard() {
        var vigil = Vigil(["a", "b"])
        _ = vigil.take(event(.attached, "a", .running, revision: 1))
        #expect(vigil.unheard == ["b"])
        let wasAlive = vigil.takeUnknown("b")
        #expect(!wasAlive)
        #expect(!vigil.hasEnd)
        #expect(vigil.status == .unknownKey)
        vigil.beginWatch()
        #expect(vigil.unheard == ["a"])
        let wasForgotten = vigil.takeUnknown("a")
        #expect(wasForgotten)
    }

    @Test("of a countdown that was started here no earlier one's end counts")
    func passesOverEarlierEnds() {
        var vigil = Vigil(["a"])
        _ = vigil.take(event(.attached, "a", .running, revision: 1))
        vigil.begin(countdown("a", .running, revision: 5))
        let isEnd = [
            vigil.take(event(.finished, "a", .finished, revision: 4)),
            vigil.take(event(.restarted, "a", .running, revision: 5)),
            vigil.take(event(.finished, "a", .finished, revision: 6)),
        ]
        #expect(isEnd == [false, false, true])
    }

    @Test("what remains is known from the last tick")
    func keepsRemaining() {
        var vigil = Vigil(["a"])
        _ = vigil.take(event(.attached, "a", .running, revision: 1))
        _ = vigil.take(Event(type: .tick, key: "a", remainingUSec: 2_000_000))
        #expect(vigil.lastSeen("a")?.remainingUSec == 2_000_000)
    }
}
