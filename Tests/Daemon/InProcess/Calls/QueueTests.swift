import IPC
import TestSupport
import Testing
import Varlink

@Suite("A queue of starts")
final class QueueTests: SmallDaemonSuite {
    private func wait(_ key: String = "tea", _ duration: Int64 = .seconds(60), upTo: Int64? = nil) -> Start {
        Start(key: key, durationUSec: duration, ifRunning: .wait, upToUSec: upTo)
    }

    private func served(_ client: Caller) throws -> Start.Reply { try client.answer(to: Start.self).value }

    // MARK: The order

    @Test("serves fifty clients in the order of their arrival, one for each end")
    func order() throws {
        let follower = try daemon.watch()
        var last = try caller.call(Start(key: "tea")).countdown
        let clients = try (1...50).map { try queue(wait(.seconds(60 + Int64($0)))) }
        for (index, client) in clients.enumerated() {
            let ended = try caller.call(Finish(key: "tea")).countdown
            let reply = try served(client)
            #expect(reply.outcome == .started)
            #expect(ended.startedUSec == last.startedUSec)
            #expect(reply.countdown.revision == ended.revision + 1)
            #expect(reply.countdown.durationUSec == .seconds(61 + Int64(index)))
            #expect(try queued() == Int64(49 - index))
            last = reply.countdown
        }
        _ = try caller.call(Cancel(key: "tea"))
        let events = try follower.events(through: .cancelled)
        #expect(
            events.map(\.type) == [.started] + (0..<50).flatMap { _ in [.finished, .started] } + [.cancelled]
        )
        #expect(try caller.call(GetStatus()).counters["servedStarts"] == 50)
    }

    private func wait(_ duration: Int64) -> Start { wait("tea", duration) }

    @Test("with places for one, one trailing run comes of all triggers, and a client that is gone takes no place")
    func places() throws {
        let one = Start(key: "build", ifRunning: .wait, queueUpTo: 1)
        let first = try caller.call(one).countdown
        var waiting: Caller? = try queue(one)
        for _ in 0..<20 {
            #expect {
                try caller.call(one)
            } throws: { error in
                guard case CountdownError.alreadyRunning(_, retryAfter: nil) = error else { return false }
                return true
            }
        }
        _ = waiting
        waiting = nil
        try awaitQueued(0)
        let last = try queue(one)
        _ = try caller.call(Finish(key: "build"))
        #expect(try served(last).countdown.startedUSec >= first.startedUSec)
        #expect(try caller.call(GetStatus()).counters["servedStarts"] == 1)
        #expect(throws: ServiceError.invalidParameter("queueUpTo")) {
            try caller.call(Start(key: "build", ifRunning: .wait, queueUpTo: 0))
        }
    }

    @Test("is served when the countdown expires: Wait gets the end, and the duration counts from the start")
    func expiry() throws {
        let follower = try daemon.watch()
        let first = try caller.call(Start(key: "tea", durationUSec: .milliseconds(300))).countdown
        let waiter = try Caller(of: daemon)
        try waiter.send(Wait(key: "tea"))
        let client = try queue(wait(.milliseconds(50)))
        time.pass(.milliseconds(300))
        let reply = try served(client)
        time.pass(.milliseconds(50))
        let ended = try waiter.answer(to: Wait.self).value.countdown
        #expect(ended.endedUSec == first.deadlineUSec)
        #expect(reply.outcome == .started)
        #expect(reply.countdown.revision == ended.revision + 1)
        #expect(reply.countdown.startedUSec >= ended.endedUSec ?? .max)
        #expect(reply.countdown.deadlineUSec == reply.countdown.startedUSec + .milliseconds(50))
        let events = try follower.events(through: .finished) + follower.events(through: .finished)
        #expect(events.map(\.type) == [.started, .finished, .started, .finished])
        #expect(events[1].countdown == ended)
        #expect(events[2].countdown == reply.countdown)
    }

    @Test("a client that hung up is passed over, one that only stopped sending is served")
    func hungUp() throws {
        _ = try caller.call(Start(key: "tea"))
        var leaving: Caller? = try queue(wait())
        let halfClosed = try queue(wait())
        halfClosed.connection.closeWriting()
        let last = try queue(wait())
        _ = leaving
        leaving = nil
        try awaitQueued(2)
        _ = try caller.call(Finish(key: "tea"))
        #expect(try served(halfClosed).outcome == .started)
        #expect(try halfClosed.connection.nextMessage() == nil)
        #expect(try queued() == 1)
        _ = try caller.call(Finish(key: "tea"))
        #expect(try served(last).outcome == .started)
    }

    @Test("calls behind a queued start wait, and follow in their order")
    func pipelined() throws {
        _ = try caller.call(Start(key: "tea"))
        let client = try queue(wait())
        try client.send(Get(key: "tea"))
        try client.send(wait("tea"))
        try client.send(GetStatus())
        let ended = try caller.call(Cancel(key: "tea")).countdown
        let started = try served(client).countdown
        #expect(started.revision == ended.revision + 1)
        #expect(try client.answer(to: Get.self).value.countdown.revision == started.revision)
        try awaitQueued(1)
        _ = try caller.call(Finish(key: "tea"))
        #expect(try served(client).outcome == .started)
        #expect(try client.answer(to: GetStatus.self).value.queuedStarts == 0)
    }

    @Test("a start that wants no reply waits too")
    func oneway() throws {
        _ = try caller.call(Start(key: "tea"))
        let client = try Caller(of: daemon)
        try client.send(wait("tea", .seconds(7)), oneway: true)
        try client.send(GetStatus())
        try awaitQueued(1)
        _ = try caller.call(Finish(key: "tea"))
        #expect(try client.answer(to: GetStatus.self).value.running == 1)
        #expect(try caller.call(Get(key: "tea")).countdown.durationUSec == .seconds(7))
    }

    // MARK: Other calls meanwhile

    @Test("restarts, extensions and pauses keep the queue, and what may not pass it is refused without a time")
    func otherCalls() throws {
        _ = try caller.call(Start(key: "tea"))
        let client = try queue(wait())
        #expect(try caller.call(Start(key: "tea")).outcome == .attached)
        #expect(try caller.call(Start(key: "tea", ifRunning: .restart)).outcome == .restarted)
        #expect(try caller.call(Start(key: "tea", ifRunning: .extend)).outcome == .extended)
        for start in [
            Start(key: "tea", ifRunning: .fail), Start(key: "tea", ifRunning: .extend, upToUSec: .seconds(3_600)),
        ] {
            let error = #expect(throws: CountdownError.self) { try caller.call(start) }
            guard case .alreadyRunning(_, retryAfter: nil) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        let cooldowns = [Cooldown("tea", upTo: .seconds(3_600)), Cooldown("egg")]
        let refused = try caller.call(StartAll(cooldowns: cooldowns))
        #expect(!refused.accepted && refused.retryAfterUSec == nil)
        #expect(refused.rooms.map(\.left) == [0, 1])
        #expect(refused.rooms.map(\.moreUSec) == [nil, nil])
        _ = try caller.call(Pause(key: "tea"))
        _ = try caller.call(Resume(key: "tea"))
        _ = try caller.call(Adjust(key: "tea", byUSec: .seconds(60)))
        #expect(try queued() == 1)
        _ = try caller.call(Adjust(key: "tea", byUSec: -.seconds(3_600)))
        #expect(try served(client).outcome == .started)
    }

    // MARK: Up to

    @Test("is served as soon as there is room, as an extension")
    func room() throws {
        _ = try caller.call(Start(key: "tea", durationUSec: .milliseconds(400)))
        // Two fit at once; the third has to wait for 100 ms, and the one behind it as long again.
        let (part, most) = (Int64.milliseconds(100), Int64.milliseconds(500))
        #expect(try caller.call(wait("tea", part, upTo: most)).outcome == .extended)
        let clients = try (0..<2).map { _ in
            let client = try Caller(of: daemon)
            try client.send(wait("tea", part, upTo: most))
            return client
        }
        try awaitQueued(2)
        for client in clients {
            time.pass(.milliseconds(100))
            let reply = try served(client)
            #expect(reply.outcome == .extended)
            #expect(reply.countdown.remainingUSec == most)
        }
        #expect(try queued() == 0)
    }

    @Test("is served at once if a change makes room, as many as fit")
    func roomByChange() throws {
        _ = try caller.call(Start(key: "tea", durationUSec: .seconds(3_600)))
        let clients = try (0..<4).map { _ in try queue(wait("tea", .seconds(100), upTo: .seconds(300))) }
        _ = try caller.call(Pause(key: "tea"))
        _ = try caller.call(Adjust(key: "tea", byUSec: -.seconds(3_500)))
        for client in clients.prefix(2) { #expect(try served(client).outcome == .extended) }
        #expect(try queued() == 2)
        _ = try caller.call(Cancel(key: "tea"))
        #expect(try served(clients[2]).outcome == .started)
        #expect(try served(clients[3]).outcome == .extended)
    }

    @Test("if the first one leaves, the next one is served when it has room")
    func firstLeaves() throws {
        _ = try caller.call(Start(key: "tea", durationUSec: .seconds(100)))
        var first: Caller? = try queue(wait())
        let second = try queue(wait("tea", .seconds(10), upTo: .seconds(200)))
        _ = first
        first = nil
        #expect(try served(second).outcome == .extended)
    }

    @Test("a thousand clients for one key make no turn long")
    func thousand() throws {
        _ = try caller.call(Start(key: "tea"))
        let clients = try (0..<1_000).map { _ in
            let client = try Caller(of: daemon)
            try client.send(wait("tea", 1))
            return client
        }
        try awaitQueued(1_000)
        _ = try caller.call(Finish(key: "tea"))
        for _ in clients {
            time.pass(1)
            _ = try queued()
        }
        var revision: Int64 = 0
        for client in clients {
            let reply = try served(client)
            #expect(reply.outcome == .started)
            #expect(reply.countdown.revision > revision)
            revision = reply.countdown.revision
        }
        let status = try caller.call(GetStatus())
        #expect(status.counters["mostServedStartsInTurn"] == 1)
        #expect(status.queuedStarts == 0)
    }
}
