import CountdownCore
import Glibc
import TestSupport
import Testing

@testable import countdownd

@Suite("A failing checkpoint")
struct CheckpointFailureTests {
    @Test("it is tried again after the log has grown by as much, and not by each commit")
    func pauses() throws {
        let directory = try TemporaryDirectory()
        let now = SetClocks().now
        let opening = StoreLocation(
            directory: directory.path,
            durability: .process,
            limits: Limits(),
            log: Lines().log
        )
        var opened = try opening.open(at: now)
        // Holds SQLite's lock for checkpoints (WAL_CKPT_LOCK, byte 121 of the index), as a connection that copies would.
        let index = unsafe open(directory.path(of: "countdowns.db-shm"), O_RDWR)
        defer { close(index) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_start = 121
        lock.l_len = 1
        let setLockOfOpenFile: Int32 = 37
        #expect(unsafe fcntl(index, setLockOfOpenFile, &lock) == 0)
        for number in 0..<5_000 {
            let start = Request.Start(try Key("key \(number)"), label: String(repeating: "x", count: 900))
            guard case .change(let change) = try opened.timetable.decide(.start(start), at: now) else { continue }
            opened.timetable.apply(change)
            try opened.store.commit(Changes(steps: [change]), deferringCleanup: false)
        }
        // At least two pages a commit: the log could be copied twice.
        #expect((1...6).contains(opened.store.checkpoints))
    }
}
