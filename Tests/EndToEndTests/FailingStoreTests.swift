import CSQLite
import Glibc
import IPC
import TestSupport
import Testing
import Varlink

@Suite("A store that cannot be written")
struct FailingStoreTests {
    private let daemon: DaemonProcess
    private let caller: Caller

    init() throws {
        daemon = try DaemonProcess()
        caller = try Caller(of: daemon)
    }

    /// What another process does that writes in the database and does not come to an end.
    @safe private final class Writer {
        private var database: OpaquePointer?

        init(in directory: String) throws {
            let code = unsafe sqlite3_open("\(directory)/countdowns.db", &database)
            guard code == SQLITE_OK, unsafe sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK else {
                throw SystemFailure("sqlite3", code: EIO)
            }
        }

        func end() {
            unsafe sqlite3_exec(database, "ROLLBACK", nil, nil, nil)
        }

        deinit { unsafe sqlite3_close(database) }
    }

    @Test("refuses what asks for a change, and answers the calls around it as if that had never been asked")
    func refuses() throws {
        _ = try caller.call(Start(key: "known"))
        let writer = try Writer(in: daemon.stateDirectory)
        // So that all of it comes in one turn.
        daemon.process.send(signal: SIGSTOP)
        try caller.send(Get(key: "known"))
        try caller.send(Start(key: "new"))
        try caller.send(Get(key: "new"))
        try caller.send(Start(key: "known"))
        try caller.connection.send(message: #"{"method":"org.varlink.service.GetInfo"}"#)
        daemon.process.send(signal: SIGCONT)
        #expect(try caller.answer(to: Get.self).value.countdown.key == "known")
        #expect(throws: CountdownError.storageFailed(reason: "database is locked")) {
            try caller.answer(to: Start.self)
        }
        #expect(throws: CountdownError.noSuchCountdown(key: "new")) { try caller.answer(to: Get.self) }
        #expect(throws: CountdownError.self) { try caller.answer(to: Start.self) }
        #expect(try caller.connection.message().contains("io.countdownd"))
        writer.end()
        #expect(try Caller(of: daemon).call(Start(key: "new")).outcome == .started)
    }

    @Test("costs nobody the watch who sends another call meanwhile")
    func keepsWatch() throws {
        let follower = try Follower(of: daemon, Watch(tickUSec: 0))
        try follower.events(through: .synced)
        let waiter = try Caller(of: daemon)
        _ = try caller.call(Start(key: "tea"))
        try waiter.send(Wait(key: "tea"))
        // Once this is answered, what was sent before has been received.
        _ = try caller.call(GetStatus())
        let writer = try Writer(in: daemon.stateDirectory)
        // So that all of it comes in one turn.
        daemon.process.send(signal: SIGSTOP)
        try follower.caller.send(GetStatus())
        try waiter.send(GetStatus())
        try caller.send(Start(key: "coffee"))
        daemon.process.send(signal: SIGCONT)
        #expect(throws: CountdownError.self) { try caller.answer(to: Start.self) }
        writer.end()
        _ = try caller.call(Finish(key: "tea"))
        #expect(try follower.events(through: .finished).map(\.key) == ["tea", "tea"])
        #expect(try waiter.answer(to: Wait.self).value.countdown.state == .finished)
        #expect(try waiter.answer(to: GetStatus.self).value.running == 0)
    }
}
