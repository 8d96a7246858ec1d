import Foundation
import IPC
import TestSupport
import Testing

/// Damage that other programs may do to the files of a store while its daemon runs.
@Suite("A store that is removed from a running daemon")
final class LostStoreTests: DaemonSuite {
    enum Loss: String, CaseIterable {
        case everything, folder, renamedFolder, replacedFolder
        case segment, renamedSegment, replacedSegment, truncatedSegment
        case lock

        /// The file that the log of the daemon names.
        var file: String? {
            switch self {
            case .lock: nil
            default: "log/0000000001.log"
            }
        }
    }

    private var state: String { daemon.stateDirectory }

    override init() throws {
        try super.init()
        for key in ["running", "paused", "ended"] { try start(key) }
        _ = try caller.call(Pause(key: "paused"))
        _ = try caller.call(Cancel(key: "ended"))
    }

    @discardableResult
    private func start(_ key: String) throws -> Countdown {
        try caller.call(Start(key: key, durationUSec: .seconds(3_600))).countdown
    }

    private func inflict(_ loss: Loss) throws {
        let (folder, segment) = ("\(state)/log", "\(state)/log/0000000001.log")
        func replace(_ path: String) throws {
            try FileManager.default.copyItem(atPath: path, toPath: "\(state)/copy")
            try FileManager.default.removeItem(atPath: path)
            unsafe rename("\(state)/copy", path)
        }
        switch loss {
        case .everything:
            for name in try FileManager.default.contentsOfDirectory(atPath: state) {
                try FileManager.default.removeItem(atPath: "\(state)/\(name)")
            }
        case .folder: try FileManager.default.removeItem(atPath: folder)
        case .renamedFolder: unsafe rename(folder, "\(folder).away")
        case .replacedFolder: try replace(folder)
        case .segment: unsafe unlink(segment)
        case .renamedSegment: unsafe rename(segment, "\(segment).away")
        case .replacedSegment: try replace(segment)
        case .truncatedSegment: unsafe truncate(segment, 0)
        case .lock: unsafe unlink("\(state)/lock")
        }
    }

    /// Starts a daemon on the state that the first one leaves when it is killed.
    private func expectEverything(_ keys: [String], since revision: Int64) throws {
        try daemon.kill()
        let next = try DaemonProcess(in: daemon.directory)
        let caller = try Caller(of: next)
        for key in keys { #expect(try caller.call(Get(key: key)).countdown.state == .running, "\(key)") }
        #expect(try caller.call(Get(key: "paused")).countdown.state == .paused)
        #expect(try caller.call(Get(key: "ended")).countdown.state == .cancelled)
        let missed = try Follower(of: next, Watch(tick: .zero, since: revision)).events(through: .synced)
        #expect(Set(missed.compactMap(\.key)) == Set(keys.dropFirst()))
        #expect(!next.standardError.contains("cannot be read"))
    }

    @Test(
        "no answered change is lost, not even one that follows another at once: the store is written again",
        arguments: Loss.allCases,
        [1, 200]
    )
    func rewritten(_ loss: Loss, changes: Int) throws {
        let since = try start("before").revision
        try inflict(loss)
        let keys = (0..<changes).map { "new \($0)" }
        for key in keys { try start(key) }
        if changes > 128 {
            let line = daemon.standardError.split(separator: "\n").first {
                $0.contains("A new store was written from memory")
            }
            #expect((line == nil) == (loss == .lock))
            if let file = loss.file { #expect(try #require(line).contains("/\(file) was ")) }
            #expect(FileManager.default.fileExists(atPath: "\(state)/lock"))
        }
        try expectEverything(["before"] + keys, since: since)
    }

    @Test("a directory further up that was renamed, which is not reported, is noticed before the daemon sleeps")
    func renamedFurtherUp() throws {
        let directory = try TemporaryDirectory()
        let outer = directory.path(of: "outer")
        let daemon = try DaemonProcess(in: directory, arguments: ["--state-directory", "\(outer)/state"])
        let caller = try Caller(of: daemon)
        _ = try caller.call(Start(key: "before", durationUSec: .seconds(3_600)))
        unsafe rename(outer, "\(outer).away")
        // This change is answered, or refused if it comes late after the other one.
        _ = try? caller.call(Start(key: "after", durationUSec: .seconds(3_600)))
        try daemon.awaitStatus { $0.contains("cannot be stored") }
        #expect(throws: CountdownError.self) { try caller.call(Start(key: "refused", durationUSec: .seconds(3_600))) }
    }

    @Test("a daemon that stops writes the store again", arguments: [Loss.everything, .truncatedSegment])
    func stopped(_ loss: Loss) throws {
        try inflict(loss)
        try daemon.terminate()
        let next = try DaemonProcess(in: daemon.directory)
        #expect(try Caller(of: next).call(Get(key: "running")).countdown.state == .running)
    }

    @Test("while the directory is gone, changes are refused; when it is back, the store is written again")
    func directory() throws {
        let since = try caller.call(GetStatus()).revision
        try FileManager.default.removeItem(atPath: state)
        let error = #expect(throws: CountdownError.self) { try start("refused") }
        #expect(error?.name == .storageFailed)
        #expect(throws: CountdownError.noSuchCountdown(key: "refused")) { try caller.call(Get(key: "refused")) }
        #expect(try caller.call(Get(key: "running")).countdown.state == .running)
        #expect(
            daemon.standardError.contains("the directory \(state) was removed or renamed (make the directory again")
        )
        try daemon.awaitStatus { $0.contains("cannot be stored") }
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        // The daemon retries although no client makes a call.
        try daemon.awaitStatus { !$0.contains("cannot be stored") }
        try start("new")
        try expectEverything(["running", "new"], since: since)
    }

    @Test("if the directory was moved and is back, the store continues")
    func movedBack() throws {
        let since = try caller.call(GetStatus()).revision
        unsafe rename(state, "\(state).away")
        #expect(throws: CountdownError.self) { try start("refused") }
        unsafe rename("\(state).away", state)
        try daemon.awaitStatus { !$0.contains("cannot be stored") }
        #expect(!daemon.standardError.contains("A new store was written"))
        try start("new")
        try expectEverything(["running", "new"], since: since)
    }

    @Test("a file that has replaced the log is kept")
    func kept() throws {
        let text = Data("a backup, say".utf8)
        unsafe rename("\(state)/log", "\(state)/away")
        try text.write(to: URL(fileURLWithPath: "\(state)/log"))
        try start("new")
        let kept = try FileManager.default.contentsOfDirectory(atPath: state).filter { $0.hasPrefix("log-replaced-") }
        #expect(kept.count == 1)
        for name in kept {
            #expect(daemon.standardError.contains("is kept as \(state)/\(name)"))
            #expect(FileManager.default.contents(atPath: "\(state)/\(name)") == text)
        }
    }
}

@Suite("A second daemon on one store")
final class SecondDaemonTests: DaemonSuite {
    private var store: String { "\(daemon.stateDirectory)/log/0000000001.log" }

    override init() throws {
        try super.init()
        _ = try caller.call(Start(key: "tea", durationUSec: .seconds(3_600)))
    }

    /// Starts another daemon in a directory, which must refuse.
    private func expectRefusal(in directory: TemporaryDirectory) throws {
        let second = try DaemonProcess(
            starting: [],
            in: directory,
            arguments: ["--socket", directory.path(of: "other")]
        )
        #expect(try second.process.wait() == .exited(code: EX_UNAVAILABLE))
        #expect(second.standardError.contains(" is held by another countdownd"))
        // The first daemon continues with an unchanged store.
        #expect(try caller.call(Start(key: "after", durationUSec: .seconds(3_600))).outcome == .started)
    }

    @Test("a daemon exits if its log is a hard link to that of another one")
    func hardLink() throws {
        let other = try TemporaryDirectory()
        let folder = other.path(of: "state/log")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(unsafe chmod(other.path(of: "state"), 0o700) == 0)
        #expect(unsafe link(store, "\(folder)/0000000001.log") == 0)
        try expectRefusal(in: other)
    }

    @Test("it exits if the lock file was removed, which the first daemon creates again with a later change")
    func removedLock() throws {
        let lock = "\(daemon.stateDirectory)/lock"
        unsafe unlink(lock)
        try expectRefusal(in: daemon.directory)
        unsafe unlink(lock)
        _ = try caller.call(Start(key: "new", durationUSec: .seconds(3_600)))
        #expect(try String(contentsOfFile: lock, encoding: .utf8).contains("process \(daemon.process.identifier) "))
    }
}
