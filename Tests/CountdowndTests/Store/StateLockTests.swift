import CountdownCore
import Glibc
import TestSupport
import Testing

@testable import countdownd

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

@Suite("Durability")
struct DurabilityTests {
    @Test("with power-loss each turn is synced to the disk, with process none")
    func synchronous() throws {
        let scene = try StoreScene()
        // The file is new first, then an old one.
        for _ in 1...2 {
            for (durability, synchronous) in [(.process, 1), (.powerLoss, 2)] as [(Durability, Int64)] {
                let opened = try scene.file(durability).openOrBeginAnew()
                func pragma(_ name: String) throws -> Int64? { try opened.database.integer("PRAGMA \(name)") }
                #expect(try pragma("synchronous") == synchronous)
                #expect(try pragma("page_size") == 1_024)
                let mode = try opened.database.prepare("PRAGMA journal_mode")
                #expect(try mode.step())
                #expect(mode.text(0) == "wal")
            }
        }
    }
}
