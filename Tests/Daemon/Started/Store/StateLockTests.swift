import Glibc
import TestSupport
import Testing

@Suite("The lock of the store")
struct StateLockTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private var host: String {
        var name = [CChar](repeating: 0, count: 256)
        unsafe gethostname(&name, name.count)
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    @Test("a second daemon names the first one and exits with the code for an unavailable service")
    func twoDaemons() throws {
        let daemon = try DaemonProcess()
        let second = try RunningCommand(
            ["--socket", directory.path(of: "socket"), "--state-directory", daemon.stateDirectory],
            executable: BuiltProduct.path(of: "countdownd")
        )
        let run = try second.finish()
        #expect(run.exitCode == EX_UNAVAILABLE)
        let holder = "process \(daemon.process.identifier) on \(host)"
        let line = "countdownd: \(daemon.stateDirectory) is held by another countdownd: \(holder)\n"
        #expect(run.standardError == line)
    }
}
