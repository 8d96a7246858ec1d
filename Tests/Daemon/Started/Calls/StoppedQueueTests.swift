import Glibc
import IPC
import TestSupport
import Testing

/// `QueueTests` have what needs no process.
@Suite("A queue of starts in a daemon that stops for a moment, or for good")
final class StoppedQueueTests: DaemonSuite {
    private let wait = Start(key: "tea", ifRunning: .wait)

    private func served(_ client: Caller) throws -> Start.Reply { try client.answer(to: Start.self).value }

    @Test("a call of a client that hung up in the same moment takes no place in the queue")
    func placeOfHungUp() throws {
        let one = Start(key: "build", ifRunning: .wait, queueUpTo: 1)
        _ = try caller.call(one)
        var leaving: Caller? = try queue(one)
        let next = try Caller(of: daemon)
        try daemon.process.stop()
        leaving = nil
        _ = leaving
        try next.send(one)
        daemon.process.send(signal: SIGCONT)
        try awaitQueued(1)
        _ = try caller.call(Finish(key: "build"))
        #expect(try served(next).outcome == .started)
    }

    @Test("a client that hung up as the countdown ended is passed over")
    func hungUpMeanwhile() throws {
        _ = try caller.call(Start(key: "tea"))
        var leaving: Caller? = try queue(wait)
        let next = try queue(wait)
        try daemon.process.stop()
        leaving = nil
        _ = leaving
        try caller.send(Finish(key: "tea"))
        daemon.process.send(signal: SIGCONT)
        _ = try caller.answer(to: Finish.self)
        #expect(try served(next).outcome == .started)
    }

    @Test("a restart of the daemon drops the queue with its connections")
    func restart() throws {
        _ = try caller.call(Start(key: "tea"))
        let client = try queue(wait)
        try daemon.kill()
        #expect(try client.connection.nextMessage() == nil)
        let restarted = try DaemonProcess(in: daemon.directory)
        let next = try Caller(of: restarted)
        #expect(try next.call(GetStatus()).queuedStarts == 0)
        #expect(try next.call(Finish(key: "tea")).countdown.state == .finished)
        #expect(throws: CountdownError.self) { try next.call(Finish(key: "tea")) }
    }
}
