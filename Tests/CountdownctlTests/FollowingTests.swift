import IPC
import Testing

@testable import countdownctl

@Suite("Following")
struct FollowingTests {
    @Test("a watch that has told all there was is taken up at the newest revision")
    func takesUp() {
        var following = Following(Selection(keys: ["tea"]), tick: 0)
        #expect(following.request == Watch(tickUSec: 0, heartbeatUSec: Following.heartbeat, keys: ["tea"]))
        following.take(Event(type: .attached, key: "tea"))
        following.take(Event(type: .synced, revision: 7))
        following.take(Event(type: .tick, key: "tea", remainingUSec: 5))
        #expect(following.request.since == 7)
        following.take(Event(type: .paused, revision: 9, key: "tea"))
        following.take(Event(type: .heartbeat, revision: 12))
        following.take(Event(type: .adjusted, key: "tea"))
        #expect(following.request.since == 12)
    }

    @Test("a watch that broke off before it had told all there was begins afresh")
    func beginsAfresh() {
        var following = Following(Selection(typed: []))
        following.take(Event(type: .attached, key: "tea"))
        following.take(Event(type: .started, revision: 9, key: "coffee"))
        #expect(following.request.since == nil)
        #expect(following.request.match == nil)
    }

    @Test("one that was taken up goes on from what it has told, though it had not told all")
    func goesOn() {
        var following = Following(Selection(typed: ["t*", "tea"]), since: 5)
        following.take(Event(type: .finished, revision: 6, key: "tea"))
        #expect(following.request.since == 6)
        following.beginAfresh()
        following.take(Event(type: .finished, revision: 8, key: "tea"))
        #expect(following.request.since == nil)
        #expect(following.request.match == ["t*"])
        #expect(following.request.keys == ["tea"])
    }

    @Test("what is typed with nothing of a pattern in it is a key")
    func selects() {
        let selection = Selection(typed: ["tea", "t?", "[a]", "login/*", "a]"])
        #expect(selection.keys == ["tea", "a]"])
        #expect(selection.patterns == ["t?", "[a]", "login/*"])
        #expect(!selection.isOne && Selection(typed: ["tea"]).isOne && !Selection(typed: ["*"]).isOne)
        #expect(Selection(typed: []).match == nil && Selection(typed: []).named == nil)
    }

    @Test("pauses between attempts grow from none to half a minute")
    func pausesLonger() {
        let pauses = (0...60).map(Reconnection.pause)
        #expect(pauses[0] == 0)
        #expect(pauses[1] == 100_000)
        #expect(pauses[2] == 200_000)
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(pauses.last == 30_000_000)
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
