import IPC
import System
import Testing
import Varlink

@Suite("A watch that outlives its connections")
struct ResumableWatchTests {
    private let trimmed = ClientError.countdown(.historyTrimmed(oldestRevision: 8))

    private func options(_ change: (inout ResumableWatch.FailureOptions) -> Void) -> ResumableWatch.FailureOptions {
        var options = ResumableWatch.FailureOptions()
        change(&options)
        return options
    }

    @Test("after synced it resumes at the newest revision")
    func resumes() {
        var watch = ResumableWatch(Watch(tick: .zero, keys: ["tea"]))
        #expect(watch.request == Watch(tick: .zero, heartbeat: ResumableWatch.heartbeat, keys: ["tea"]))
        #expect(watch.start() == .started(isFresh: true))
        _ = watch.receive([
            Event(type: .attached, key: "tea"),
            Event(type: .synced, revision: 7),
            Event(type: .tick, key: "tea", remainingUSec: 5),
        ])
        #expect(watch.request.since == 7)
        _ = watch.receive([
            Event(type: .paused, revision: 9, key: "tea"),
            Event(type: .heartbeat, revision: 12),
            Event(type: .adjusted, key: "tea"),
        ])
        #expect(
            watch.request == Watch(tick: .zero, since: 12, heartbeat: ResumableWatch.heartbeat, keys: ["tea"])
        )
        #expect(watch.start() == .started(isFresh: false))
    }

    @Test("before synced it begins again, or, with a revision, resumes after what was reported")
    func beforeSynced() {
        var new = ResumableWatch(Watch(heartbeat: .microseconds(5_000_000)))
        _ = new.receive([Event(type: .attached, key: "tea"), Event(type: .started, revision: 9, key: "coffee")])
        #expect(new.request.since == nil)
        // A heartbeat that the call asks for is kept.
        #expect(new.request.heartbeatUSec == 5_000_000)
        var resumed = ResumableWatch(Watch(match: ["t*"], since: 5, keys: ["tea"]))
        _ = resumed.receive([Event(type: .finished, revision: 6, key: "tea")])
        #expect(resumed.request.since == 6)
    }

    @Test("if the history is trimmed, the watch begins again, or resumes from the oldest revision")
    func trims() throws {
        var again = ResumableWatch(Watch(since: 5))
        #expect(try again.fail(trimmed) == .historyTrimmed(oldestRevision: 8))
        _ = again.receive([Event(type: .finished, revision: 8, key: "tea")])
        #expect(again.request.since == nil)

        var oldest = ResumableWatch(Watch(since: 5), options: options { $0.trimmedHistory = .resumeFromOldest })
        #expect(try oldest.fail(trimmed) == .historyTrimmed(oldestRevision: 8))
        #expect(oldest.request.since == 8)
        // The daemon refuses the revision that it named itself.
        #expect(try oldest.fail(trimmed) == .historyTrimmed(oldestRevision: 8))
        #expect(oldest.request.since == nil)
    }

    @Test("a loss is reported once, and the recovery when synced arrives")
    func lostAndRecovered() throws {
        var watch = ResumableWatch(Watch())
        let synced = [Event(type: .synced, revision: 7)]
        #expect(watch.receive(synced) == [.events(synced)])
        #expect(try watch.fail(.disconnected) == .lost(.disconnected))
        let unreachable = ClientError.unreachable(path: "/a", errno: 2)
        #expect(try watch.fail(unreachable) == .stillLost(unreachable))
        let end = [Event(type: .finished, revision: 8, key: "tea")]
        #expect(watch.receive(end) == [.events(end)])
        #expect(watch.receive(synced) == [.recovered, .events(synced)])
        #expect(try watch.fail(.disconnected) == .lost(.disconnected))
    }

    @Test("without a daemon in the beginning the watch fails, unless it is to wait for one")
    func noDaemon() throws {
        for error in [ClientError.disconnected, .unreachable(path: "/a", errno: 2)] {
            var watch = ResumableWatch(Watch())
            #expect(throws: error) { try watch.fail(error) }
            _ = watch.receive([])
            #expect(try watch.fail(error) == .lost(error))
            var patient = ResumableWatch(Watch(), options: options { $0.waitsForDaemon = true })
            #expect(try patient.fail(error) == .lost(error))
        }
    }

    @Test("a daemon that does not know its countdowns yet is waited for, also in the beginning")
    func opening() throws {
        for error in [CountdownError.unreachable(reason: "no engine"), .storageFailed(reason: "no disk")].map(
            ClientError.countdown
        ) {
            var watch = ResumableWatch(Watch())
            #expect(try watch.fail(error) == .lost(error))
            #expect(try watch.fail(error) == .stillLost(error))
            #expect(watch.receive([Event(type: .synced, revision: 7)]).first == .recovered)
        }
    }

    @Test("a daemon without room is waited for by a watch that was there before, not by a new one")
    func limitReached() throws {
        let error = ClientError.countdown(.limitReached(limit: "connections", maximum: 1))
        var watch = ResumableWatch(Watch())
        #expect(throws: error) { try watch.fail(error) }
        _ = watch.receive([])
        _ = try watch.fail(.disconnected)
        #expect(try watch.fail(error) == .stillLost(error))
        let patterns = ClientError.countdown(.limitReached(limit: "patternBytes", maximum: 1))
        #expect(throws: patterns) { try watch.fail(patterns) }
    }

    @Test(
        "an error that would be the same at the next attempt is thrown",
        arguments: [
            ClientError.service(.permissionDenied), .service(.invalidParameter("match")), .unknownError(name: "a.B"),
            .invalidReply(method: "a.B", member: "c"), .protocolViolation(.unexpectedReply),
            .countdown(.noSuchCountdown(key: "tea")),
        ]
    )
    func final(error: ClientError) {
        var watch = ResumableWatch(Watch(), options: options { $0.waitsForDaemon = true })
        _ = watch.receive([Event(type: .synced, revision: 7)])
        #expect(throws: error) { try watch.fail(error) }
    }

    @Test("the first attempt comes at once, and the next ones after growing pauses until the daemon is back")
    func delays() throws {
        var watch = ResumableWatch(Watch())
        #expect(watch.delayBeforeAttempt() == 0)
        _ = watch.receive([])
        _ = try watch.fail(.disconnected)
        #expect((0..<4).map { _ in watch.delayBeforeAttempt() } == [0, 100_000, 200_000, 400_000])
        _ = watch.receive([Event(type: .synced, revision: 7)])
        _ = try watch.fail(.disconnected)
        #expect(watch.delayBeforeAttempt() == 0)
    }

    @Test("a daemon that answers HistoryTrimmed again and again is asked after growing pauses until synced arrives")
    func backsOffAfterTrims() throws {
        var watch = ResumableWatch(Watch())
        var delays: [Int64] = []
        for _ in 0..<5 {
            _ = watch.receive([Event(type: .attached, key: "tea")])
            _ = try watch.fail(trimmed)
            delays.append(watch.delayBeforeAttempt())
        }
        #expect(delays == [0, 100_000, 200_000, 400_000, 800_000])
        _ = watch.receive([Event(type: .synced, revision: 9)])
        _ = try watch.fail(trimmed)
        #expect(watch.delayBeforeAttempt() == 0)
    }

    @Test("the pauses grow up to half a minute")
    func backoff() {
        let delays = (0...60).map { Backoff.delay(before: $0) }
        #expect(delays.prefix(3) == [0, 100_000, 200_000])
        #expect(zip(delays, delays.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(delays.last == 30_000_000)
    }
}
