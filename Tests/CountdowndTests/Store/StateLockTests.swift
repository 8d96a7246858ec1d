import CountdownCore
import Glibc
import TestSupport
import Testing

@testable import countdownd

@Suite("The state directory and its lock")
struct StateLockTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path(of: "a/b/state") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private var host: String {
        var name = [CChar](repeating: 0, count: 256)
        unsafe gethostname(&name, name.count)
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Who keeps the directory from being had; nil where it can be had.
    private func holder() throws -> String? {
        do {
            _ = try StateDirectory(path: path)
            return nil
        } catch OpenError.held(let held, let holder) {
            #expect(held == path)
            return holder
        }
    }

    @Test("it is created, with its parents, accessible only to its user")
    func made() throws {
        _ = try StateDirectory(path: path)
        for directory in ["a", "a/b", "a/b/state"] {
            let status = try #require(FileIdentity.status(of: self.directory.path(of: directory)))
            #expect(status.st_mode & 0o777 == 0o700)
        }
    }

    @Test("the lock names the process and the host that hold it, and is free when they have gone")
    func holds() throws {
        func hold() throws -> String? {
            let held = try StateDirectory(path: path)
            let holder = try holder()
            #expect(held.path == path)
            return holder
        }
        #expect(try hold() == "process \(getpid()) on \(host)")
        #expect(try holder() == nil)
    }

    @Test("if the lock names no process, the holder is unknown")
    func unnamed() throws {
        _ = try StateDirectory(path: path)
        let lock = unsafe open("\(path)/lock", O_RDWR | O_TRUNC | O_CLOEXEC)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX | LOCK_NB) == 0)
        #expect(try holder() == "an unknown process")
        for line in ["process 7 on elsewhere\nmore", "\u{1}"] {
            unsafe _ = pwrite(lock, line, line.utf8.count, 0)
            #expect(try holder() == line.split(separator: "\n").first.map(String.init))
            ftruncate(lock, 0)
        }
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
            for (durability, synchronous) in [(.process, 1), (.powerLoss, 2)] as [(SQLiteStore.Durability, Int64)] {
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
