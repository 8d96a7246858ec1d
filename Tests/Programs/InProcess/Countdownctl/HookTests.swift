import Glibc
import IPC
import System
import Testing

@testable import countdownctl

@Suite("Commands that events run")
struct HookTests {
    private let output = Output(isQuiet: true, json: false, palette: .plain)

    @Test("while a command runs, nothing is due before its time limit, because the system reports its end")
    func waitsWithoutWaking() throws {
        let hook = try Hook(on: ["started"], exec: "true", shell: false, timeout: 3_600_000_000)
        let runs = try HookRunner(hook, output: output)
        #expect(runs.deadline == nil)
        let tea = countdown("tea", 60)
        runs.enqueue([Event(type: .started, revision: 1, key: "tea", remainingUSec: 60_000_000, countdown: tea)])
        let due = try #require(runs.deadline)
        #expect(due.remainingUSec > 1_800_000_000)
        // If the process were not reaped, a wait for any child would return it again and again.
        let end = ContinuousClock.now + .seconds(120)
        while runs.deadline != nil, ContinuousClock.now < end {
            sched_yield()
            runs.advance()
        }
        #expect(runs.deadline == nil)
    }
}
