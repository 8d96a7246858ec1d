import Foundation
import IPC
import TestSupport
import Testing

/// Surroundings that a process can inherit and that must not end it without a sentence.
@Suite("A daemon that is started with too few resources")
struct HostileStartTests {
    private func daemon(after preparation: String, arguments: [String] = []) throws -> DaemonProcess {
        let launcher = ["/bin/sh", "-c", preparation + #"; exec "$@""#, "sh"]
        return try DaemonProcess(starting: launcher, in: TemporaryDirectory(), arguments: arguments)
    }

    @Test("it reports that it has too few file descriptors, whatever their number", arguments: Array(5...24))
    func fewDescriptors(_ limit: Int) throws {
        let daemon = try daemon(after: "ulimit -n \(limit)")
        #expect(try daemon.process.wait() == .exited(code: 71))
        #expect(daemon.standardError.contains("file descriptors are free, and 24 are needed"))
    }

    @Test("it serves with as many file descriptors as it asks for")
    func enoughDescriptors() throws {
        let daemon = try daemon(after: "ulimit -n 32")
        try daemon.awaitReadiness()
    }

    @Test(
        "it reports that it cannot start threads",
        .enabled(if: getuid() == 0, "only root can take another user's limit")
    )
    func fewThreads() throws {
        // Root has no such limit, so the daemon runs as a user without other processes.
        let command = ["prlimit", "--nproc=1", "setpriv", "--reuid=64999", "--clear-groups"]
        let run = try RunningCommand(
            ["-c", #"exec "$@""#, "sh"] + command + [BuiltProduct.path(of: "countdownd")],
            executable: "/bin/sh"
        ).finish()
        #expect(run.exitCode == 71)
        #expect(run.standardError.hasPrefix("countdownd: 4 threads are needed, and the system does not start as many"))
    }

    @Test("writes no log line into a socket or its store if the standard streams are closed")
    func closedStreams() throws {
        let daemon = try daemon(after: "exec <&- >&- 2>&-", arguments: ["--log-level", "debug"])
        try daemon.awaitReadiness()
        try expectNoStreams(of: daemon.process)
        #expect(try Caller(of: daemon).call(Start(key: "tea")).outcome == .started)
        #expect(try daemon.terminate() == .exited(code: 0))
    }

    private func expectNoStreams(of process: ChildProcess) throws {
        let streams = try (0...2).map {
            try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process.identifier)/fd/\($0)")
        }
        #expect(streams == ["/dev/null", "/dev/null", "/dev/null"])
    }

    @Test("nor does countdown-notify")
    func closedStreamsOfNotifier() throws {
        let directory = try TemporaryDirectory()
        let notifications = try NotificationSocket(path: directory.path(of: "notify"))
        let arguments = ["--state-directory", directory.path(of: "state")]
        let process = try ChildProcess(
            "/bin/sh",
            arguments: ["-c", #"exec <&- >&- 2>&-; exec "$@""#, "sh", BuiltProduct.path(of: "countdown-notify")]
                + arguments,
            environment: ["NOTIFY_SOCKET": notifications.path, "COUNTDOWND_SOCKET": directory.path(of: "none")],
            descriptors: []
        )
        try notifications.await("READY=1", from: process)
        try expectNoStreams(of: process)
    }

    @Test("countdownctl prints nothing into its connection, and says that standard output cannot be written")
    func closedStreamsOfCommand() throws {
        let daemon = try DaemonProcess()
        let run = try Typist(daemon).type(shell: "countdownctl start tea 1h <&-; countdownctl watch --json <&- >&-")
        #expect(run.exitCode == 74)
        #expect(run.standardError.contains("cannot write to standard output: Bad file descriptor"))
    }

    private static let released = BuiltProduct.packageDirectory.appendingPathComponent("bin").path

    @Test(
        "reads its options though a preloaded library has called setenv",
        .enabled(if: FileManager.default.fileExists(atPath: released), "make build has not been run"),
        arguments: ["countdownd", "countdown-notify", "countdownctl", "countdownd-redis"].filter {
            FileManager.default.fileExists(atPath: "\(released)/\($0)")
        }
    )
    func preloaded(_ program: String) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(
            """
            #include <stdlib.h>
            __attribute__((constructor)) static void prepare(void) { setenv("MOVED", "1", 1); }
            """,
            to: "moved.c"
        )
        let library = directory.path(of: "moved.so")
        let compiler = #"if command -v clang > /dev/null; then exec clang "$@"; else exec cc "$@"; fi"#
        let compiled = try RunningCommand(
            ["-c", compiler, "sh", "-shared", "-fPIC", "-o", library, source],
            executable: "/bin/sh",
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        ).finish()
        #expect(compiled.standardError == "")
        let run = try RunningCommand(
            ["--version"],
            executable: "\(Self.released)/\(program)",
            environment: ["LD_PRELOAD": library]
        ).finish()
        #expect(run.standardOutput.hasPrefix(program))
    }
}
