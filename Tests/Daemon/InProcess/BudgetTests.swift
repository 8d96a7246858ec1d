import CountdownCore
import IPC
import TestSupport
import Testing
import Varlink

@testable import countdownd

/// The budgets of a turn do not change anything that clients see.
@Suite("Turns with the smallest budgets")
struct BudgetTests {
    /// A daemon with the smallest budgets of a turn and the smallest pages.
    private func daemon() throws -> SmallDaemon {
        try SmallDaemon {
            $0.callsInTurn = 2
            $0.callsOfConnectionInTurn = 1
            $0.endsInTurn = 1
            $0.ticksInTurn = 1
            $0.entriesInTurn = 1
            $0.compactionsInTurn = 1
            $0.readBytesInTurn = 7
            $0.pageBytes = 1
        }
    }

    @Test("calls of several clients are each answered in their order")
    func calls() throws {
        let daemon = try daemon()
        let callers = try (0..<5).map { _ in try daemon.caller() }
        for number in 0..<20 {
            for (index, caller) in callers.enumerated() { try caller.send(Start(key: "\(index)/\(number)")) }
        }
        for number in 0..<20 {
            for (index, caller) in callers.enumerated() {
                #expect(try caller.answer(to: Start.self).value.countdown.key == "\(index)/\(number)")
            }
        }
        #expect(try callers[0].call(GetStatus()).counters["mostCallsInTurn"] == 2)
    }

    @Test("a list has a page for each countdown, in the order of their last change")
    func list() throws {
        let caller = try daemon().caller()
        let keys = (0..<20).map { "\($0)" }
        for key in keys { _ = try caller.call(Start(key: key)) }
        let pages = try caller.call(all: List())
        #expect(pages.flatMap(\.countdowns).map(\.key) == keys)
        #expect(pages.count >= 20)
        #expect(try caller.call(all: List(keys: ["7", "3", "5"])).flatMap(\.countdowns).map(\.key) == ["3", "5", "7"])
        #expect(throws: ServiceError.expectedMore) { try caller.call(List(keys: ["1", "2"])) }
        let soonest = try caller.call(all: List(match: ["1*"], soonest: 3)).flatMap(\.countdowns)
        #expect(soonest.map(\.key) == ["1", "10", "11"])
    }

    @Test("a countdown that changes during the snapshot of a watch is delivered once, at its new place")
    func watch() throws {
        let daemon = try daemon()
        let caller = try daemon.caller()
        let keys = (0..<50).map { "\($0)" }
        for key in keys { _ = try caller.call(Start(key: key)) }
        // Changes and the beginning of the watch fall into the same turns.
        let follower = try daemon.follower(IPC.Watch(tick: .zero))
        for key in keys.reversed() where key.hasSuffix("3") { try caller.send(Pause(key: key), oneway: true) }
        for key in keys where key.hasSuffix("7") { try caller.send(Cancel(key: key), oneway: true) }
        try caller.send(Start(key: "fence"), oneway: true)
        var known: [String: IPC.Countdown] = [:]
        var last: Int64 = 0
        while known["fence"] == nil {
            let event = try follower.next()
            guard let countdown = event.countdown else { continue }
            #expect(countdown.revision > last)
            last = countdown.revision
            known[countdown.key] = countdown
        }
        #expect(known.count == 51)
        for (key, countdown) in known {
            #expect(countdown.state == (key.hasSuffix("3") ? .paused : key.hasSuffix("7") ? .cancelled : .running))
        }
    }

    @Test("ends that are due at once are delivered to each watcher in their order, and to waiting clients")
    func endings() throws {
        let daemon = try daemon()
        let caller = try daemon.caller()
        let followers = try (0..<3).map { _ in try daemon.watch() }
        let now = try caller.call(Start(key: "now")).countdown.startedUSec
        let keys = (0..<30).map { "\($0)" }
        for key in keys { _ = try caller.call(Start(key: key, deadlineUSec: now + 500_000)) }
        let waiter = try daemon.caller()
        try waiter.send(Wait(key: "15"))
        daemon.time.pass(.milliseconds(500))
        #expect(try waiter.answer(to: Wait.self).value.countdown.state == .finished)
        for follower in followers {
            let events = try follower.events(through: .finished, of: "29").filter { $0.type == .finished }
            #expect(events.map(\.key) == keys)
        }
        #expect(try caller.call(GetStatus()).counters["mostEndingsInTurn"] == 1)
    }

    @Test("ticks of many countdowns are delivered one by one, none twice")
    func ticks() throws {
        let daemon = try daemon()
        let caller = try daemon.caller()
        let follower = try daemon.watch(IPC.Watch(tick: .microseconds(50_000)))
        let keys = (0..<20).map { "\($0)" }
        for key in keys { _ = try caller.call(Start(key: key, durationUSec: 400_000)) }
        try follower.events(through: .started, of: "19")
        for left in stride(from: Int64(350_000), to: 0, by: -50_000) {
            daemon.time.pass(.milliseconds(50))
            let ticks = try keys.map { _ in try follower.next() }
            #expect(ticks.allSatisfy { $0.type == .tick && $0.remainingUSec == left })
            #expect(Set(ticks.compactMap(\.key)) == Set(keys))
        }
    }

    @Test("a watcher that resumes during changes misses none")
    func since() throws {
        let daemon = try daemon()
        let caller = try daemon.caller()
        let since = try caller.call(GetStatus()).revision
        for round in 0..<30 {
            _ = try caller.call(Start(key: "\(round % 4)", ifRunning: .restart))
            if round % 3 == 0 { _ = try caller.call(Finish(key: "\(round % 4)")) }
        }
        let follower = try daemon.follower(IPC.Watch(tick: .zero, since: since))
        for key in ["0", "1", "2", "3"] { try caller.send(Start(key: key, ifRunning: .restart), oneway: true) }
        _ = try caller.call(Start(key: "fence"))
        let newest = try caller.call(GetStatus()).revision
        var revisions: [Int64] = []
        while revisions.last != newest {
            if let revision = try follower.next().countdown?.revision { revisions.append(revision) }
        }
        #expect(revisions == Set(revisions).sorted())
        let endings = try caller.call(all: List(states: [.finished])).flatMap(\.countdowns)
        #expect(endings.allSatisfy { revisions.contains($0.revision) })
    }

    @Test("keys that are matched against many patterns are scanned with smaller budgets, and none is missed")
    func patterns() throws {
        let daemon = try SmallDaemon { $0.entriesInTurn = 130 }
        let caller = try daemon.caller()
        for number in 0..<200 { try caller.send(Start(key: "\(number)"), oneway: true) }
        let before = try caller.call(GetStatus()).counters["turns"] ?? 0
        let patterns = (0..<63).map { "*aaaaaa\($0)" } + ["1*"]
        let found = try caller.call(all: List(match: patterns)).flatMap(\.countdowns).map(\.key)
        #expect(found == (0..<200).map { "\($0)" }.filter { $0.hasPrefix("1") })
        let events = try daemon.follower(IPC.Watch(match: patterns, tick: .zero)).events(through: .synced)
        #expect(events.dropLast().map(\.key) == found)
        // Two of them in a turn, for each of both.
        #expect(try #require(try caller.call(GetStatus()).counters["turns"]) >= before + 200)
    }

    @Test("the more patterns there are, the fewer changes a turn has, and all are delivered")
    func matches() throws {
        let daemon = try SmallDaemon { $0.matchesInTurn = 40 }
        let follower = try daemon.watch(IPC.Watch(match: ["*a", "*b", "*c", "*d", "*e"], tick: .zero))
        let call = #"{"method":"io.countdownd.Start","parameters":{"key":"e","ifRunning":"restart"},"oneway":true}"#
        let caller = try daemon.caller()
        try caller.connection.send(Array(String(repeating: call + "\0", count: 100).utf8))
        #expect(try follower.next().type == .started)
        for _ in 1..<100 { #expect(try follower.next().type == .restarted) }
        #expect(try caller.call(GetStatus()).counters["mostCallsInTurn"] == 2)
    }

    @Test("keys and prefixes take nothing from the budgets, however many are watched")
    func lookups() throws {
        let daemon = try SmallDaemon { $0.matchesInTurn = 20 }
        let keys = (0..<1_000).map { "key/\($0)" }
        let follower = try daemon.watch(IPC.Watch(match: ["a*", "b/c/*", "exact"], tick: .zero, keys: keys))
        let caller = try daemon.caller()
        let call = #"{"method":"io.countdownd.Start","parameters":{"key":"b/c/d"},"oneway":true}"#
        try caller.connection.send(Array(String(repeating: call + "\0", count: 20).utf8))
        #expect(try follower.next().countdown?.key == "b/c/d")
        #expect(try #require(try caller.call(GetStatus()).counters["mostCallsInTurn"]) >= 20)
    }

    @Test("long calls are answered in several turns, each in its order")
    func bytes() throws {
        let daemon = try SmallDaemon { $0.callBytesInTurn = 1 }
        let caller = try daemon.caller()
        for number in 0..<20 { try caller.send(Start(key: "\(number)")) }
        for number in 0..<20 { #expect(try caller.answer(to: Start.self).value.countdown.key == "\(number)") }
        #expect(try caller.call(GetStatus()).counters["mostCallsInTurn"] == 1)
    }

    /// A label and metadata of the greatest length.
    private static let (label, metadata) = (
        String(repeating: "x", count: 1_024),
        Dictionary(uniqueKeysWithValues: (100..<132).map { ("name-\($0)", String(repeating: "x", count: 120)) })
    )

    private func mostCalls(_ daemon: SmallDaemon, _ call: String, _ count: Int) throws -> Int64 {
        let caller = try daemon.caller()
        try caller.connection.send(Array(String(repeating: call + "\0", count: count).utf8))
        if !call.contains("oneway") { for _ in 0..<count { _ = try caller.connection.message() } }
        return try #require(try caller.call(GetStatus()).counters["mostCallsInTurn"])
    }

    @Test("each cooldown of a StartAll counts as a call, also in a dry run, and GetStatus as sixteen")
    func weights() throws {
        for dryRun in [false, true] {
            let daemon = try SmallDaemon { ($0.callsInTurn, $0.callsOfConnectionInTurn) = (64, 32) }
            let cooldowns = (0..<16).map { #"{"key":"\#($0)","durationUSec":1,"upToUSec":1000000000}"# }
            let parameters = #"{"cooldowns":[\#(cooldowns.joined(separator: ","))],"dryRun":\#(dryRun)}"#
            let call = #"{"method":"io.countdownd.StartAll","parameters":\#(parameters),"oneway":true}"#
            #expect(try mostCalls(daemon, call, 20) == 2)
            #expect(try mostCalls(daemon, #"{"method":"io.countdownd.GetStatus"}"#, 20) == 2)
        }
    }

    @Test(
        "the stored text of a countdown counts, whichever call changes or reports it",
        arguments: [
            #"Adjust","parameters":{"key":"tea","byUSec":1"#, #"Start","parameters":{"key":"tea"#,
            #"Start","parameters":{"key":"tea","ifRunning":"extend","durationUSec":1"#,
            #"Start","parameters":{"key":"tea","ifRunning":"extend","durationUSec":1,"label":"short"#,
            #"Start","parameters":{"key":"tea","ifRunning":"later","durationUSec":9000000000"#,
            #"Start","parameters":{"key":"tea","ifRunning":"fail"#, #"Resume","parameters":{"key":"tea"#,
            #"Get","parameters":{"key":"tea"#, #"Cancel","parameters":{"key":"tea","ifRevision":1"#,
        ]
    )
    func storedText(_ parameters: String) throws {
        for oneway in parameters.hasPrefix("Adjust") || parameters.contains("extend") ? ["", #","oneway":true"#] : [""]
        {
            let daemon = try SmallDaemon { $0.callBytesInTurn = 8_192 }
            let caller = try daemon.caller()
            _ = try caller.call(
                Start(key: "tea", durationUSec: .seconds(3_600), label: Self.label, metadata: TextMap(Self.metadata))
            )
            let quote = parameters.hasSuffix("tea") || parameters.hasSuffix("short") || parameters.hasSuffix("fail")
            let call = #"{"method":"io.countdownd.\#(parameters)\#(quote ? "\"" : "")}\#(oneway)}"#
            #expect(try mostCalls(daemon, call, 20) <= 3, "\(call)")
        }
    }

    @Test("a connection has a quarter of the bytes of a turn")
    func shares() throws {
        let daemon = try SmallDaemon { $0.callBytesInTurn = 8_192 }
        let call = #"{"method":"io.countdownd.Get","parameters":{"key":"\#(String(repeating: "k", count: 200))"}}"#
        #expect(try mostCalls(daemon, call, 64) <= 9)
    }

    @Test("the text of countdowns that end at once counts, and none is late for it")
    func textOfEnds() throws {
        let daemon = try SmallDaemon { $0.endsInTurn = 64 }
        let (caller, follower) = (try daemon.caller(), try daemon.watch())
        let now = try caller.call(Start(key: "now")).countdown.startedUSec
        let keys = (0..<20).map { "\($0)" }
        for key in keys {
            let (label, metadata) = (Self.label, TextMap(Self.metadata))
            _ = try caller.call(Start(key: key, deadlineUSec: now + 500_000, label: label, metadata: metadata))
        }
        daemon.time.pass(.milliseconds(500))
        let events = try follower.events(through: .finished, of: "19").filter { $0.type == .finished }
        #expect(events.map(\.key) == keys)
        #expect(try #require(try caller.call(GetStatus()).counters["mostEndingsInTurn"]) <= 2)
    }

    @Test("what a scan writes counts if it is more than what it looks at")
    func textOfScans() {
        let now = Now(boot: BootInstant(microseconds: 0), offset: .zero)
        var turn = Turn(at: now, limits: Limits(), patternSteps: 0, clockStep: nil)
        let entries = turn.entriesLeft
        turn.entriesLeft -= 300
        turn.count(scanned: 100_000, from: entries)
        #expect(turn.entriesLeft == entries - 300)
        turn.count(scanned: 512_000, from: entries)
        #expect(turn.entriesLeft == entries - 1_000)
    }

    @Test("the history is removed in parts, too")
    func trimming() throws {
        let daemon = try SmallDaemon {
            $0.history = 2
            $0.compactionsInTurn = 1
            $0.callsInTurn = 64
        }
        let caller = try daemon.caller()
        for number in 0..<40 {
            try caller.send(Start(key: "\(number)"), oneway: true)
            try caller.send(Finish(key: "\(number)"), oneway: true)
        }
        // Each call causes at least one turn, which compacts one end.
        for _ in 0..<40 { _ = try caller.call(GetStatus()) }
        #expect(try caller.call(List(states: Countdown.State.allCases)).countdowns.map(\.key) == ["38", "39"])
    }
}
