import TestSupport
import Testing

@Suite("Child processes of tests")
struct ProcessTests {
    private func shell(_ script: String, input: String = "") throws -> RunningCommand {
        try RunningCommand(["-c", script], executable: "/bin/sh", input: input)
    }

    @Test("a run has the command's output and its exit code")
    func runToItsEnd() throws {
        let run = try shell("cat; echo trouble >&2; exit 7", input: "in\n").finish()
        #expect(run.standardOutput == "in\n")
        #expect(run.standardError == "trouble\n")
        #expect(run.exitCode == 7)
    }

    @Test("a command that a signal ended has no exit code")
    func killed() throws {
        let run = try shell("kill -TERM $$").finish()
        #expect(run.ending == .killed(signal: 15))
        #expect(run.exitCode == nil)
    }

    @Test("lines arrive one by one while the command runs, a last one without its newline too")
    func lines() throws {
        let command = try shell("echo one; echo two; printf three; read wait", input: "")
        #expect(try command.line() == "one")
        #expect(try command.line() == "two")
        #expect(try command.line() == "three")
        #expect(try command.line() == nil)
    }

    @Test("a command that hangs is an error at the deadline")
    func hanging() throws {
        let command = try shell("exec sleep 1000")
        #expect(throws: TimedOut.self) { try command.line(until: Deadline(after: .zero)) }
        #expect(throws: TimedOut.self) { try command.process.wait(until: Deadline(after: .zero)) }
        #expect(command.process.isRunning)
    }

    @Test("an interrupted command ends as after Ctrl-C")
    func interrupted() throws {
        let command = try shell("trap 'kill $!; exit 130' INT; sleep 1000 & echo ready; wait")
        #expect(try command.line() == "ready")
        command.interrupt()
        #expect(try command.finish().exitCode == 130)
    }

    @Test("a process has the descriptors that it was given, and no others")
    func descriptors() throws {
        #expect(try shell("ls /proc/$$/fd; true").finish().standardOutput == "0\n1\n2\n")
    }

    @Test("a process that is released is killed")
    func letGo() throws {
        var command: RunningCommand? = try shell("echo $$; exec sleep 1000")
        let identifier = try #require(try command?.line())
        command = nil
        #expect(try shell("kill -0 \(identifier)").finish().exitCode != 0)
    }
}
