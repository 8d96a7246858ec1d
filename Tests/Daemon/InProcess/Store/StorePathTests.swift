import CountdownCore
import Foundation
import TestSupport
import Testing

@testable import countdownd

@Suite("The path of the store")
final class StorePathTests: StoreSuite {
    /// Why the store cannot be opened now.
    private func reason() -> String? {
        do {
            _ = try scene.file().open(in: .ofStore(at: scene.directory.path))
            return nil
        } catch OpenError.unavailable(let failure) {
            return failure.advice
        } catch {
            return "\(error)"
        }
    }

    @Test("if a daemon was killed while it created the store, the next one creates it without a log line")
    func killedInMaking() throws {
        do {
            let database = try scene.connect()
            try Schema.current.create(in: database)
        }
        // What SQLite has beside a database that is written for the first time: it had no pages.
        var journal: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0, 0, 0, 0, 1, 2, 3, 4]
        journal += [0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 4, 0] + [UInt8](repeating: 0, count: 512 - 28)
        try Data(journal).write(to: URL(fileURLWithPath: scene.path + "-journal"))
        for _ in 1...2 { try scene.open().turn(.start("tea"), at: scene.now) }
        #expect(try scene.files.keys.sorted() == ["countdowns.db"])
        #expect(scene.lines.all.isEmpty)
    }

    // MARK: What is no file

    enum Stranger: CaseIterable {
        case directory, pipe, linkToPipe, socket, linkToNothing, loop

        var reason: String {
            switch self {
            case .directory: "it is a directory, not a file: move it away"
            case .pipe, .linkToPipe: "it is a named pipe, not a file: move it away"
            case .socket: "it is a socket, not a file: move it away"
            case .linkToNothing: "it is a link to a missing file: restore the file, or remove the link"
            case .loop: "stat: Too many levels of symbolic links"
            }
        }

        func make(at path: String) throws {
            switch self {
            case .directory: unsafe mkdir(path, 0o700)
            case .pipe: unsafe mkfifo(path, 0o600)
            case .linkToPipe:
                unsafe mkfifo(path + "-pipe", 0o600)
                unsafe symlink(path + "-pipe", path)
            case .socket: _ = try ListeningSocket(path: path)
            case .linkToNothing: unsafe symlink("/tmp/countdownd-nothing-is-here/countdowns.db", path)
            case .loop: unsafe symlink(path, path)
            }
        }
    }

    @Test(
        "if it is not a file, it does not change, the failure says what it is, and nothing hangs",
        arguments: Stranger.allCases
    )
    func strangers(_ stranger: Stranger) throws {
        try stranger.make(at: scene.path)
        let before = try scene.files.keys.sorted()
        #expect(reason() == "\(scene.path): \(stranger.reason)")
        #expect(try scene.files.keys.sorted() == before)
        #expect(scene.lines.all.isEmpty)
        // Once it has been moved away, the next try is right.
        unsafe rename(scene.path, scene.path + "-moved")
        #expect(try scene.open().known.isEmpty)
    }

    // MARK: Rights

    @Test(
        "if the daemon may not access it, it does not change",
        arguments: [(0o700, 0o000, "open"), (0o700, 0o400, "attempt to write a readonly database")]
    )
    func rightsOnFile(directory: mode_t, file: mode_t, failure: String) throws {
        do { try scene.open().turn(.start("tea"), at: scene.now) }
        try setModes(directory: directory, file: file)
        let before = try scene.files["countdowns.db"]
        let reason = try #require(withRightsOfNobody(reason))
        #expect(reason.hasPrefix("\(scene.path): \(failure)"), "\(reason)")
        #expect(reason.hasSuffix("(see that its user may write there)"))
        #expect(try scene.files["countdowns.db"] == before)
        #expect(scene.lines.all.isEmpty)
        unsafe chmod(scene.path, 0o600)
        #expect(try scene.open().known.map(\.key.text) == ["tea"])
    }

    @Test(
        "if the daemon may not access the directory, the file does not change",
        arguments: [0o500, 0o000] as [mode_t]
    )
    func rightsOnDirectory(mode: mode_t) throws {
        try setModes(directory: mode, file: 0o600)
        let reason = try #require(withRightsOfNobody(reason))
        #expect(reason.hasPrefix(scene.directory.path), "\(reason)")
        #expect(reason.contains("Permission denied (see that its user may write there)"), "\(reason)")
        unsafe chmod(scene.directory.path, 0o700)
        #expect(try scene.open().known.isEmpty)
    }

    @Test("a file that can be neither read nor moved aside does not change, and the attempt leaves no file")
    func rightsToMove() throws {
        _ = try scene.open()
        try scene.directory.write("text", to: "countdowns.db")
        try setModes(directory: 0o500, file: 0o600)
        let before = try scene.files
        let reason = try #require(withRightsOfNobody(reason))
        #expect(
            reason.contains("it is not an SQLite database, and it cannot be moved aside: rename: Permission denied")
        )
        #expect(try scene.files == before)
    }

    /// Gives all of it to nobody, with these modes.
    private func setModes(directory: mode_t, file: mode_t) throws {
        // As root, the test uses the rights of everybody in place of the owner's.
        func set(_ path: String, _ mode: mode_t) { unsafe chmod(path, mode | mode >> 3 | mode >> 6) }
        set(scene.directory.path(of: "lock"), 0o600)
        for path in try scene.files.keys { set(scene.directory.path(of: path), file) }
        set(scene.directory.path, directory)
    }

    // MARK: Links

    /// A store that is kept elsewhere; the link to it stands here.
    private func linkStore() throws -> DatabaseFiles {
        let elsewhere = scene.directory.path(of: "elsewhere")
        unsafe mkdir(elsewhere, 0o700)
        for name in try scene.files.keys where name.hasPrefix("countdowns.db") {
            unsafe rename(scene.directory.path(of: name), "\(elsewhere)/\(name)")
        }
        unsafe symlink("elsewhere/countdowns.db", scene.path)
        return DatabaseFiles(path: "\(elsewhere)/countdowns.db")
    }

    @Test("it may be a link: the database and its log are beside the target")
    func link() throws {
        do { try scene.open().turn(.start("tea"), at: scene.now) }
        let store = try linkStore()
        do {
            let keeper = try scene.open()
            try keeper.turn(.start("coffee"), at: scene.now)
            #expect(FileManager.default.fileExists(atPath: store.path(of: .log)))
            #expect(try scene.files.keys.sorted() == ["countdowns.db", "elsewhere"])
        }
        #expect(try scene.open().known.map(\.key.text) == ["tea", "coffee"])
    }

    @Test("it may be a link to an empty file, in which a store is created; if there is a log, that is kept")
    func linkToEmpty() throws {
        try scene.directory.write("", to: "countdowns.db")
        let store = try linkStore()
        do { try scene.open().turn(.start("tea"), at: scene.now) }
        #expect(FileManager.default.contents(atPath: store.path)?.isEmpty == false)
        unsafe truncate(store.path, 0)
        try Data("log".utf8).write(to: URL(fileURLWithPath: store.path(of: .log)))
        #expect(try scene.open().known.isEmpty)
        #expect(scene.lines.all.count == 1)
        #expect(FileManager.default.contents(atPath: store.path(of: .log)) == Data("log".utf8))
    }

    @Test("if it is a link to a file that cannot be read, the link is moved aside, and the target does not change")
    func linkToUnreadable() throws {
        do { try scene.open().turn(.start("tea"), at: scene.now) }
        try scene.connect().execute("PRAGMA user_version = 3")
        let store = try linkStore()
        let contents = [store.path, store.path(of: .log)].map(FileManager.default.contents(atPath:))
        #expect(try scene.open().known.isEmpty)
        #expect([store.path, store.path(of: .log)].map(FileManager.default.contents(atPath:)) == contents)
        let kept = scene.directory.path(of: "countdowns-unreadable-20250615T152320Z.db")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: kept) == "elsewhere/countdowns.db")
    }
}
