import CountdownCore
import IPC
import TestSupport
import Testing
import Varlink

@testable import countdownd

@Suite("Limits")
struct LimitTests {
    private static let far: Int64 = 3_600_000_000

    @Test(
        "at the limit of countdowns an existing key can still be read and changed, and a new key is refused until a countdown ends"
    )
    func countdowns() throws {
        let caller = try SmallDaemon { $0.countdowns = 3 }.caller()
        for key in ["a", "b", "c"] { _ = try caller.call(Start(key: key)) }
        _ = try caller.call(Pause(key: "b"))
        let full = CountdownError.limitReached(limit: "countdowns", maximum: 3)
        #expect(throws: full) { try caller.call(Start(key: "d")) }
        for key in ["a", "b", "c"] { #expect(try caller.call(Start(key: key)).outcome == .attached) }
        #expect(try caller.call(Start(key: "a", ifRunning: .restart)).outcome == .restarted)
        #expect(try caller.call(Start(key: "b", ifRunning: .extend)).outcome == .extended)
        #expect(throws: full) { try caller.call(Start(key: "d", ifRunning: .restart)) }
        _ = try caller.call(Cancel(key: "c"))
        #expect(try caller.call(Start(key: "d")).outcome == .started)
        #expect(throws: full) { try caller.call(Start(key: "c")) }
        #expect(try caller.call(GetStatus()).limits["countdowns"] == 3)
    }

    @Test(
        "if there are too many ends the oldest are removed; a watch from before them gets HistoryTrimmed, a later one every end"
    )
    func history() throws {
        let daemon = try SmallDaemon { $0.history = 3 }
        let caller = try daemon.caller()
        let since = try caller.call(GetStatus()).revision
        for key in ["a", "b", "c", "d", "e"] {
            _ = try caller.call(Start(key: key))
            _ = try caller.call(Finish(key: key))
        }
        let ended = Countdown.State.allCases
        #expect(try caller.call(List(states: ended)).countdowns.map(\.key) == ["c", "d", "e"])
        for key in ["a", "b"] {
            #expect(throws: CountdownError.noSuchCountdown(key: key)) { try caller.call(Get(key: key)) }
        }
        let oldest = try caller.call(GetStatus()).oldestRevision
        #expect(throws: CountdownError.historyTrimmed(oldestRevision: oldest)) {
            try caller.call(all: IPC.Watch(since: since))
        }
        #expect(throws: CountdownError.historyTrimmed(oldestRevision: oldest)) {
            try caller.call(all: IPC.Watch(since: oldest - 1))
        }
        let told = try daemon.follower(IPC.Watch(since: oldest)).events(through: .synced)
        #expect(told.map(\.key) == ["c", "d", "e", nil])
    }

    @Test("ends with forget remove no others, however many they are")
    func forgotten() throws {
        let daemon = try SmallDaemon { $0.history = 3 }
        let caller = try daemon.caller()
        let since = try caller.call(GetStatus()).revision
        for key in ["a", "b", "c"] {
            _ = try caller.call(Start(key: key))
            _ = try caller.call(Finish(key: key))
        }
        for number in 0..<1_000 {
            try caller.send(Start(key: "limit/\(number)", durationUSec: Self.far, forget: true), oneway: true)
            try caller.send(Cancel(key: "limit/\(number)"), oneway: true)
        }
        #expect(try caller.call(List(states: Countdown.State.allCases)).countdowns.map(\.key) == ["a", "b", "c"])
        let told = try daemon.follower(IPC.Watch(since: since)).events(through: .synced)
        #expect(told.map(\.key) == ["a", "b", "c", nil])
    }

    @Test("queued starts that a limit prevents are refused in many turns, and no call comes before the next one")
    func manyQueuedStarts() throws {
        let daemon = try SmallDaemon {
            $0.textBytesInAll = 100
            $0.servedStartsInTurn = 4
        }
        let caller = try daemon.caller()
        _ = try caller.call(Start(key: "a"))
        _ = try caller.call(Start(key: "b", label: "b"))
        let label = String(repeating: "x", count: 40)
        let clients = try (0..<30).map { index in
            let client = try daemon.caller()
            try client.send(Start(key: "a", ifRunning: .wait, label: label))
            try waitUntil("the start is queued") { try caller.call(GetStatus()).queuedStarts == Int64(index + 1) }
            return client
        }
        let last = try daemon.caller()
        try last.send(Start(key: "a", durationUSec: 5 * 1_000_000, ifRunning: .wait))
        try waitUntil("the start is queued") { try caller.call(GetStatus()).queuedStarts == 31 }
        try caller.send(Finish(key: "a"))
        try caller.send(Start(key: "a"))
        _ = try caller.answer(to: Finish.self)
        #expect(try caller.answer(to: Start.self).value.outcome == .attached)
        for client in clients {
            #expect(throws: CountdownError.limitReached(limit: "textBytesInAll", maximum: 100)) {
                try client.answer(to: Start.self)
            }
        }
        #expect(try last.answer(to: Start.self).value.countdown.durationUSec == 5 * 1_000_000)
        #expect(try caller.call(GetStatus()).counters["mostServedStartsInTurn"] == 4)
    }

    @Test(
        "a connection beyond the limit is answered with the limit and closed; once another one is closed, the next is served"
    )
    func connections() throws {
        let daemon = try SmallDaemon { $0.connections = 2 }
        let first = try daemon.caller()
        var second: Caller? = try daemon.caller()
        #expect(try second?.call(GetStatus()).connections == 2)
        let full = CountdownError.limitReached(limit: "connections", maximum: 2)
        for _ in 0..<20 {
            let third = try daemon.caller()
            #expect(throws: full) { try third.call(GetStatus()) }
            #expect(try third.connection.nextMessage() == nil)
        }
        _ = second
        second = nil
        try waitUntil("one connection") { try first.call(GetStatus()).connections == 1 }
        #expect(try daemon.caller().call(GetStatus()).connections == 2)
    }

    @Test("connections beyond the limit that send nothing are closed, so that the others are answered")
    func silentConnections() throws {
        let daemon = try SmallDaemon {
            $0.connections = 1
            $0.refusals = 2
        }
        let first = try daemon.caller()
        _ = try first.call(GetStatus())
        let silent = try (0..<5).map { _ in try daemon.connect() }
        let last = try daemon.caller()
        // After a pause the refused connections are closed, and two further ones are accepted.
        for refused in [silent[0..<2], silent[2..<4]] {
            try waitUntil("two refused connections") { try first.call(GetStatus()).connections == 3 }
            // In this turn at the latest, the daemon notices that there are more.
            _ = try first.call(GetStatus())
            daemon.time.pass(.milliseconds(100))
            for connection in refused { #expect(try connection.nextMessage() == nil) }
        }
        #expect(throws: CountdownError.limitReached(limit: "connections", maximum: 1)) { try last.call(GetStatus()) }
        #expect(try #require(try first.call(GetStatus()).counters["excessPeers"]) >= 4)
        #expect(try first.call(GetStatus()).connections <= 3)
    }

    @Test("one tick interval too many is refused, unless another watcher uses it")
    func tickIntervals() throws {
        let daemon = try SmallDaemon { $0.tickIntervals = 2 }
        let watcher = try daemon.follower(IPC.Watch(tick: .microseconds(20_000)))
        var other: Follower? = try daemon.follower(IPC.Watch(tick: .microseconds(30_000)))
        for follower in [watcher, other] { try follower?.events(through: .synced) }
        let caller = try daemon.caller()
        #expect(throws: CountdownError.limitReached(limit: "tickIntervals", maximum: 2)) {
            try caller.call(all: IPC.Watch(tick: .microseconds(40_000)))
        }
        for tick in [20_000, 30_000, 0] as [Int64] {
            try daemon.follower(IPC.Watch(tick: .microseconds(tick))).events(through: .synced)
        }
        other = nil
        try waitUntil("one watcher") { try caller.call(GetStatus()).watchers <= 1 }
        try daemon.follower(IPC.Watch(tick: .microseconds(40_000))).events(through: .synced)
    }

    @Test("if no place for ticks is left, another interval is refused, and a new countdown has no ticks")
    func tickPlaces() throws {
        let daemon = try SmallDaemon { $0.tickPlaces = 2 }
        let caller = try daemon.caller()
        for key in ["a", "b"] { _ = try caller.call(Start(key: key, durationUSec: Self.far)) }
        let watcher = try daemon.watch(IPC.Watch(tick: .microseconds(20_000)))
        let full = CountdownError.limitReached(limit: "tickPlaces", maximum: 2)
        #expect(throws: full) { try caller.call(all: IPC.Watch(tick: .microseconds(30_000))) }
        for tick in [20_000, 0] as [Int64] {
            try daemon.follower(IPC.Watch(tick: .microseconds(tick))).events(through: .synced)
        }
        _ = try caller.call(Start(key: "c", durationUSec: Self.far))
        var told = try watcher.events(through: .started, of: "c")
        for _ in 0..<3 {
            daemon.time.pass(.milliseconds(20))
            told += try watcher.events(through: .tick, of: "a")
        }
        _ = try caller.call(Finish(key: "c"))
        told += try watcher.events(through: .finished, of: "c")
        #expect(!told.contains { $0.type == .tick && $0.key == "c" })
        _ = try caller.call(Cancel(key: "a"))
        let other = try daemon.watch(IPC.Watch(tick: .microseconds(30_000)))
        daemon.time.pass(.milliseconds(30))
        try other.events(through: .tick, of: "b")
        #expect(try caller.call(GetStatus()).limits["tickPlaces"] == 2)
    }

    @Test("too many patterns that are tried for each change are refused; prefixes, keys and known patterns are not")
    func patternSteps() throws {
        let daemon = try SmallDaemon { $0.matchStepsInAll = 40 }
        let full = CountdownError.limitReached(limit: "matchStepsInAll", maximum: 40)
        let caller = try daemon.caller()
        var first: Follower? = try daemon.follower(IPC.Watch(match: ["*a*", "*a*"], tick: .zero))
        try first?.events(through: .synced)
        #expect(throws: full) { try caller.call(all: IPC.Watch(match: ["*b*"], tick: .zero)) }
        let others = try [["*a*", "b/*"], ["b", "c/*"], ["*/b"], ["[ab]c"]].map {
            try daemon.follower(IPC.Watch(match: $0, tick: .zero))
        }
        for other in others { try other.events(through: .synced) }
        #expect(throws: full) { try caller.call(all: IPC.Watch(match: ["?"], tick: .zero)) }
        #expect(try caller.call(List(match: ["*b*", "*c*"])).countdowns.isEmpty)
        first = nil
        try waitUntil("a watcher less") { try caller.call(GetStatus()).watchers == 4 }
        // The pattern still has another watcher.
        #expect(throws: full) { try caller.call(all: IPC.Watch(match: ["*b*"], tick: .zero)) }
        #expect(try caller.call(GetStatus()).limits["matchStepsInAll"] == 40)
    }

    @Test("too many keys and patterns of all watchers together are refused; a watch of everything is not")
    func selections() throws {
        let daemon = try SmallDaemon { $0.selectionBytesInAll = 13_000 }
        let full = CountdownError.limitReached(limit: "selectionBytesInAll", maximum: 13_000)
        let caller = try daemon.caller()
        let keys = (0..<30).map { "key/\($0)" }
        var watcher: Follower? = try daemon.follower(IPC.Watch(tick: .zero, keys: keys))
        try watcher?.events(through: .synced)
        #expect(throws: full) { try caller.call(all: IPC.Watch(tick: .zero, keys: keys)) }
        #expect(throws: full) { try caller.call(List(match: [String(repeating: "?", count: 100)])) }
        #expect(throws: full) { try caller.call(List(states: [.paused], soonest: 10)) }
        for watch in [IPC.Watch(tick: .zero), IPC.Watch(tick: .zero, keys: ["key/1"])] {
            try daemon.follower(watch).events(through: .synced)
        }
        _ = try caller.call(List())
        watcher = nil
        try waitUntil("no watcher") { try caller.call(GetStatus()).watchers == 0 }
        for _ in 0..<10 { _ = try caller.call(List(keys: keys, soonest: 5)) }
        #expect(try caller.call(GetStatus()).limits["selectionBytesInAll"] == 13_000)
    }

    @Test(
        "if all clients together have sent too many unfinished calls, the one that sent the most is disconnected and logged"
    )
    func received() throws {
        let lines = Lines()
        let daemon = try SmallDaemon(log: lines.log) { $0.receivedBytesInAll = 300_000 }
        let caller = try daemon.caller()
        let small = try daemon.connect()
        let call = #"{"method":"io.countdownd.GetStatus"}"#
        try small.send(Array(call.utf8))
        _ = try caller.call(GetStatus())
        let connections = try (0..<3).map { _ in try daemon.connect() }
        // One may be disconnected while it sends.
        for connection in connections { try? connection.send(Array(repeating: UInt8(ascii: " "), count: 150_000)) }
        try waitUntil("a disconnected client") { try caller.call(GetStatus()).counters["hoardingPeers"] != 0 }
        #expect(try small.exchange("").contains("version"))
        #expect(lines.all.contains { $0.hasPrefix("warning: disconnecting a client that has sent ") })
        #expect(try caller.call(GetStatus()).limits["receivedBytesInAll"] == 300_000)
    }

    @Test("labels and metadata beyond the limit for all are refused, unless a change takes no more than before")
    func texts() throws {
        let caller = try SmallDaemon { $0.textBytesInAll = 300 }.caller()
        let label = String(repeating: "x", count: 100)
        let full = CountdownError.limitReached(limit: "textBytesInAll", maximum: 300)
        for key in ["a", "b"] { _ = try caller.call(Start(key: key, label: label)) }
        #expect(throws: full) { try caller.call(Start(key: "c", label: label)) }
        #expect(throws: full) { try caller.call(Start(key: "c", metadata: ["a": label])) }
        #expect(throws: full) { try caller.call(Start(key: "a", ifRunning: .extend, metadata: ["a": "b"])) }
        #expect(throws: full) { try caller.call(Start(key: "a", ifRunning: .restart, label: label + label)) }
        #expect(try caller.call(Start(key: "a", label: label + label)).outcome == .attached)
        #expect(try caller.call(Start(key: "a", ifRunning: .restart, label: label)).outcome == .restarted)
        #expect(try caller.call(Start(key: "c")).outcome == .started)
        _ = try caller.call(Cancel(key: "b"))
        #expect(try caller.call(Start(key: "d", label: label)).outcome == .started)
        #expect(throws: full) { try caller.call(Start(key: "e", label: label)) }
        #expect(try caller.call(GetStatus()).limits["textBytesInAll"] == 300)
    }

    @Test("the longest allowed call is as long as the status says")
    func callLimit() {
        #expect(Limits().messageBytes == Interface.callLimit)
    }

    @Test("a message beyond the limit closes the connection and is logged")
    func message() throws {
        let lines = Lines()
        let daemon = try SmallDaemon(log: lines.log) { $0.messageBytes = 100 }
        let call = #"{"method":"io.countdownd.GetStatus"}"#
        let connection = try daemon.connect()
        #expect(
            try connection.exchange(call + String(repeating: " ", count: 100 - call.utf8.count)).contains("version")
        )
        try connection.send(Array(repeating: UInt8(ascii: " "), count: 101))
        #expect(try connection.nextMessage() == nil)
        #expect(lines.all.contains("warning: disconnecting a client whose message has more than 100 bytes"))
    }

    @Test("calls behind a waiting call are read up to the limit, and all are answered in the end")
    func waitingCalls() throws {
        let daemon = try SmallDaemon { $0.messageBytes = 200 }
        let caller = try daemon.caller()
        _ = try caller.call(Start(key: "tea"))
        let waiter = try daemon.connect()
        let wait = #"{"method":"io.countdownd.Wait","parameters":{"key":"tea"}}"#
        let get = #"{"method":"io.countdownd.Get","parameters":{"key":"tea"}}"#
        let calls = [wait] + [String](repeating: get, count: 500)
        try waiter.send(Array((calls.joined(separator: "\0") + "\0").utf8))
        _ = try caller.call(Finish(key: "tea"))
        for _ in calls { #expect(try waiter.message().contains(#""state":"finished""#)) }
    }
}
