import CSQLite
import Foundation
import IPC
import TestSupport
import Testing
import Varlink

@Suite("A daemon whose store cannot be read")
struct UnreadableStoreTests {
    private let directory: TemporaryDirectory
    private var store: String { directory.path(of: "state/countdowns.db") }

    /// A store with three countdowns that a daemon has left.
    init() throws {
        directory = try TemporaryDirectory()
        let daemon = try DaemonProcess(in: directory)
        let caller = try Caller(of: daemon)
        for key in ["first", "second", "third"] { _ = try caller.call(Start(key: key, durationUSec: .seconds(3_600))) }
        try daemon.terminate()
    }

    enum Damage: CaseIterable {
        case text, cutOff, newer

        var words: String {
            switch self {
            case .text: "it is not an SQLite database"
            case .cutOff: "it is damaged"
            case .newer: "from a newer countdownd"
            }
        }
    }

    private func execute(_ sql: String) throws {
        var database: OpaquePointer?
        defer { unsafe sqlite3_close(database) }
        guard unsafe sqlite3_open(store, &database) == SQLITE_OK,
            unsafe sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK
        else { throw SystemCallFailure("sqlite3", code: EIO) }
    }

    private func damage(_ damage: Damage) throws {
        switch damage {
        case .text: try directory.write("a list of countdowns", to: "state/countdowns.db")
        case .cutOff: unsafe truncate(store, 3_000)
        case .newer: try execute("PRAGMA user_version = 99")
        }
    }

    @Test("the daemon reports it, keeps the file, and starts with an empty store", arguments: Damage.allCases)
    func keptAside(_ damage: Damage) throws {
        try self.damage(damage)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let daemon = try DaemonProcess(in: directory)
        let caller = try Caller(of: daemon)
        #expect(try caller.call(List()).countdowns.isEmpty)
        #expect(try caller.call(Start(key: "new")).outcome == .started)
        let names = try FileManager.default.contentsOfDirectory(atPath: daemon.stateDirectory)
        let kept = try #require(names.first { $0.hasPrefix("countdowns-unreadable-") && $0.hasSuffix("Z.db") })
        let place = "\(daemon.stateDirectory)/\(kept)"
        #expect(try Data(contentsOf: URL(fileURLWithPath: place)) == before)
        let lines = daemon.standardError.split(separator: "\n").filter { $0.contains("cannot be read") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(damage.words) == true)
        #expect(lines.first?.contains("It is kept as \(place)") == true)
        try daemon.kill()
        let next = try DaemonProcess(in: directory)
        #expect(try Caller(of: next).call(Start(key: "new")).outcome == .attached)
    }

    @Test("if one row is malformed, the daemon serves the others, and the log names the row")
    func wrongRow() throws {
        try execute(#"UPDATE batch SET changes = replace(changes, '"second",0', '"second",7')"#)
        let daemon = try DaemonProcess(in: directory)
        #expect(try Caller(of: daemon).call(List()).countdowns.map(\.key) == ["first", "third"])
        #expect(daemon.standardError.contains("a malformed row is skipped and stays in its table"))
        #expect(daemon.standardError.contains("unknown state"))
    }

    @Test(
        "while another file is in its place, nothing is stored, and after its removal all is well",
        arguments: [0o040000, 0o010000] as [mode_t]
    )
    func inItsWay(kind: mode_t) throws {
        let away = directory.path(of: "away")
        unsafe rename(store, away)
        _ = kind == 0o040000 ? unsafe mkdir(store, 0o700) : unsafe mkfifo(store, 0o600)
        let daemon = try DaemonProcess(in: directory)
        let caller = try Caller(of: daemon)
        let error = #expect(throws: CountdownError.self) { try caller.call(Start(key: "new")) }
        let what = kind == 0o040000 ? "a directory" : "a named pipe"
        #expect(error == .storageFailed(reason: "\(store): it is \(what), not a file: move it away"))
        #expect(daemon.standardError.contains("it is \(what), not a file"))
        unsafe remove(store)
        unsafe rename(away, store)
        try waitUntil("the store to be opened") { try caller.call(GetStatus()).storageFailure == nil }
        #expect(try caller.call(Start(key: "new")).outcome == .started)
        #expect(try caller.call(List()).countdowns.map(\.key) == ["first", "second", "third", "new"])
    }
}
