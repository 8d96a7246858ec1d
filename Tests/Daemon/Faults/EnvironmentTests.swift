import Foundation
import IPC
import TestSupport
import Testing

@Suite("A daemon under a limit on the size of files", .withoutSanitizers)
struct FileSizeLimitTests {
    @Test("it answers StorageFailed and continues, and accepts changes after the limit is raised")
    func limited() throws {
        let limit = ["/usr/bin/prlimit", "--fsize=4000:unlimited", "--"]
        let daemon = try DaemonProcess(starting: limit, in: TemporaryDirectory())
        try daemon.awaitReadiness()
        let caller = try Caller(of: daemon)
        var refused: CountdownError?
        for number in 0..<200 where refused == nil {
            do {
                _ = try caller.call(Start(key: "\(number)", durationUSec: 3_600_000_000))
            } catch let error as CountdownError {
                refused = error
            }
        }
        #expect(refused?.name == .storageFailed)
        #expect(daemon.standardError.contains("the limit on the size of files"))
        let raise = ["--pid", "\(daemon.process.identifier)", "--fsize=unlimited:unlimited"]
        #expect(try RunningCommand(raise, executable: "/usr/bin/prlimit").finish().exitCode == 0)
        #expect(try caller.call(Start(key: "new")).outcome == .started)
    }
}

@Suite(
    "A daemon in another time namespace than the last one",
    .enabled(if: TimeNamespace.isPossible, "needs root, and time namespaces")
)
struct TimeNamespaceTests {
    @Test("deadlines do not shift, there and back", arguments: [100_000, -100])
    func moved(offset: Int) throws {
        let directory = try TemporaryDirectory()
        var deadlines: [Int64] = []
        for launcher in [[], TimeNamespace.launcher(offset: offset), []] {
            let daemon = try DaemonProcess(starting: launcher, in: directory)
            try daemon.awaitReadiness()
            let countdown = try Caller(of: daemon).call(Start(key: "tea", durationUSec: 3_600_000_000)).countdown
            deadlines.append(try #require(countdown.deadlineUSec))
            #expect(countdown.remainingUSec > 3_500_000_000)
            try daemon.terminate()
        }
        let span = try #require(deadlines.max()) - (try #require(deadlines.min()))
        #expect(span < 1_000_000)
    }
}

private enum TimeNamespace {
    /// Whether this system can make one.
    static let isPossible =
        (try? RunningCommand(["-T", "--boottime", "1", "true"], executable: "/usr/bin/unshare").finish().exitCode) == 0

    /// The command that becomes the daemon, in a namespace with a boot clock that is this many seconds ahead.
    static func launcher(offset: Int) -> [String] {
        ["/usr/bin/unshare", "-T", "--boottime", "\(offset)", "--"]
    }
}
