import CountdownCore
import Glibc
import TestSupport
import Testing

@testable import countdownd

@Suite("A failing checkpoint")
struct FailingCopyTests {
    @Test("it is tried again after the log has grown by as much, and not by each commit")
    func pauses() throws {
        let directory = try TemporaryDirectory()
        let now = SetClocks().now
        let opening = StoreLocation(
            directory: directory.path,
            durability: .process,
            policy: Policy(),
            log: Lines().log
        )
        var opened = try opening.open(at: now)
        // The store has the file open; who copies the log does not find it.
        unsafe rename(directory.path(of: "countdowns.db"), directory.path(of: "elsewhere"))
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
