import IPC
import Testing
import Varlink

@Suite("A watch that goes on")
struct FollowingTests {
    @Test("one that has told all there was is taken up at the newest revision")
    func takesUp() {
        var following = ResumableWatch(Watch(tickUSec: 0, keys: ["tea"]))
        #expect(following.request == Watch(tickUSec: 0, heartbeatUSec: ResumableWatch.heartbeat, keys: ["tea"]))
        _ = following.take([
            Event(type: .attached, key: "tea"),
            Event(type: .synced, revision: 7),
            Event(type: .tick, key: "tea", remainingUSec: 5),
        ])
        #expect(following.request.since == 7)
        _ = following.take([
            Event(type: .paused, revision: 9, key: "tea"),
            Event(type: .heartbeat, revision: 12),
            Event(type: .adjusted, key: "tea"),
        ])
        #expect(following.request == Watch(tickUSec: 0, since: 12, heartbeatUSec: ResumableWatch.heartbeat, keys: ["tea"]))
    }

    @Test("a heartbeat that was asked for is kept")
    func keepsHeartbeat() {
        #expect(ResumableWatch(Watch(heartbeatUSec: 5_000_000)).request.heartbeatUSec == 5_000_000)
    }

    @Test("one that broke off before it had told all there was begins afresh")
    func beginsAfresh() {
        var following = ResumableWatch(Watch())
        _ = following.take([Event(type: .attached, key: "tea"), Event(type: .started, revision: 9, key: "coffee")])
        #expect(following.request.since == nil)
    }

    @Test("one that was taken up goes on from what it has told, though it had not told all")
    func goesOn() throws {
        var following = ResumableWatch(Watch(match: ["t*"], since: 5, keys: ["tea"]))
        _ = following.take([Event(type: .finished, revision: 6, key: "tea")])
        #expect(following.request.since == 6)
        #expect(try following.recover(from: .countdown(.historyTrimmed(oldestRevision: 8))) == .historyTrimmed)
        _ = following.take([Event(type: .finished, revision: 8, key: "tea")])
        #expect(following.request == Watch(match: ["t*"], heartbeatUSec: ResumableWatch.heartbeat, keys: ["tea"]))
    }

    @Test("a loss is told once, and so is that the daemon is back: when it has told all there is")
    func lostAndBack() {
        var following = ResumableWatch(Watch())
        var isBack = following.take([Event(type: .synced, revision: 7)])
        #expect(!isBack)
        #expect(following.lose() == .lost)
        #expect(following.lose() == .stillLost)
        isBack = following.take([Event(type: .finished, revision: 8, key: "tea")])
        #expect(!isBack)
        isBack = following.take([Event(type: .synced, revision: 8)])
        #expect(isBack)
        #expect(following.lose() == .lost)
    }

    @Test("who has never been told anything does not wait for a daemon that hangs up")
    func nothingToComeBackTo() throws {
        var following = ResumableWatch(Watch())
        #expect(throws: ClientError.disconnected) { try following.recover(from: .disconnected) }
        _ = following.take([])
        #expect(try following.recover(from: .disconnected) == .lost)
    }

    @Test("a crowded daemon is waited for by who was there before, not by who comes")
    func crowded() throws {
        let error = ClientError.countdown(.limitReached(limit: "connections", maximum: 1))
        var following = ResumableWatch(Watch())
        #expect(throws: error) { try following.recover(from: error) }
        _ = following.lose()
        #expect(try following.recover(from: error) == .stillLost)
    }

    @Test(
        "what would be no other at the next attempt is not tried again",
        arguments: [
            ClientError.service(.permissionDenied), .service(.invalidParameter("match")), .unknownError(name: "a.B"),
            .invalidReply(method: "a.B", member: "c"), .protocolViolation(.unexpectedReply),
            .countdown(.storageFailed(reason: "disk full")), .unreachable(path: "/a", errno: 2),
        ]
    )
    func hopeless(error: ClientError) {
        var following = ResumableWatch(Watch())
        _ = following.take([Event(type: .synced, revision: 7)])
        #expect(throws: error) { try following.recover(from: error) }
    }

    @Test("the first attempt comes at once, the next ones after pauses that grow, until the daemon is back")
    func pauses() {
        var following = ResumableWatch(Watch())
        #expect(following.pauseBeforeAttempt() == 0)
        _ = following.lose()
        #expect((0..<4).map { _ in following.pauseBeforeAttempt() } == [0, 100_000, 200_000, 400_000])
        _ = following.take([Event(type: .synced, revision: 7)])
        _ = following.lose()
        #expect(following.pauseBeforeAttempt() == 0)
    }

    @Test("a daemon that answers HistoryTrimmed again and again is asked after pauses that grow, until synced arrives")
    func backsOffAfterTrims() throws {
        let trimmed = ClientError.countdown(.historyTrimmed(oldestRevision: 8))
        var following = ResumableWatch(Watch())
        var pauses: [Int64] = []
        for _ in 0..<5 {
            _ = following.take([Event(type: .attached, key: "tea")])
            #expect(try following.recover(from: trimmed) == .historyTrimmed)
            pauses.append(following.pauseBeforeAttempt())
        }
        #expect(pauses == [0, 100_000, 200_000, 400_000, 800_000])
        _ = following.take([Event(type: .synced, revision: 9)])
        #expect(try following.recover(from: trimmed) == .historyTrimmed)
        #expect(following.pauseBeforeAttempt() == 0)
    }

    @Test("pauses between attempts grow from none to half a minute")
    func pausesLonger() {
        let pauses = (0...60).map(Backoff.delay)
        #expect(pauses[0] == 0)
        #expect(pauses[1] == 100_000)
        #expect(pauses[2] == 200_000)
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(pauses.last == 30_000_000)
    }
}
