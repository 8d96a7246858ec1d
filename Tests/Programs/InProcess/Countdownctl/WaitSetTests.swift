import IPC
import Testing

@testable import countdownctl

@Suite("The wait set")
struct WaitSetTests {
    @Test("a watch has the selected patterns and keys")
    func asks() {
        let heartbeat = ResumableWatch.heartbeat
        let request = ResumableWatch(KeySelection(typed: ["t*", "tea"]), tick: 0, since: 5).request
        #expect(request == Watch(match: ["t*"], tick: .zero, since: 5, heartbeat: heartbeat, keys: ["tea"]))
        #expect(ResumableWatch(KeySelection(typed: [])).request == Watch(heartbeat: heartbeat))
    }

    @Test("a word without wildcards is a key")
    func selects() {
        let selection = KeySelection(typed: ["tea", "t?", "[a]", "login/*", "a]"])
        #expect(selection.keys == ["tea", "a]"])
        #expect(selection.patterns == ["t?", "[a]", "login/*"])
        #expect(!selection.isOne && KeySelection(typed: ["tea"]).isOne && !KeySelection(typed: ["*"]).isOne)
        #expect(KeySelection(typed: []).match == nil && KeySelection(typed: []).named == nil)
    }

    @Test("keys that only Unicode normalization makes equal are both awaited")
    func bytes() {
        var waits = WaitSet(["\u{E9}", "e\u{301}", "\u{E9}"])
        #expect(waits.keys.count == 2)
        let isFirst = waits.update(countdown("\u{E9}", .finished, revision: 1))
        #expect(isFirst && waits.hasOpen)
        let isSecond = waits.update(countdown("e\u{301}", .cancelled, revision: 2))
        #expect(isSecond && !waits.hasOpen)
    }

    private func countdown(_ key: String, _ state: Countdown.State, revision: Int64) -> Countdown {
        ProgramTests.countdown(key, state == .finished ? 0 : 5, of: 10, state, revision: revision)
    }

    @Test("an end counts once, and the highest code of all counts")
    func notesEnds() {
        var waitSet = WaitSet(["a", "b", "a"])
        #expect(waitSet.open == ["a", "b"])
        let isEnd = [
            waitSet.update(countdown("a", .running, revision: 1)),
            waitSet.update(countdown("x", .finished, revision: 2)),
            waitSet.update(countdown("a", .finished, revision: 3)),
            waitSet.update(countdown("a", .finished, revision: 3)),
        ]
        #expect(isEnd == [false, false, true, false])
        #expect(waitSet.hasEnd)
        #expect(waitSet.exitCode == .success)
        let isLast = waitSet.update(countdown("b", .cancelled, revision: 4))
        #expect(isLast)
        #expect(waitSet.open.isEmpty)
        #expect(waitSet.exitCode == .notRunning)
    }

    @Test("keys that the watch does not report are looked up")
    func asksAfterUnheard() {
        var waitSet = WaitSet(["a", "b"])
        _ = waitSet.update(countdown("a", .running, revision: 1))
        #expect(waitSet.unseen == ["b"])
        let wasAlive = waitSet.forget("b")
        #expect(!wasAlive)
        #expect(!waitSet.hasEnd)
        #expect(waitSet.exitCode == .unknownKey)
        #expect(waitSet.unseen.isEmpty)
        let wasForgotten = waitSet.forget("a")
        #expect(wasForgotten)
    }
}
