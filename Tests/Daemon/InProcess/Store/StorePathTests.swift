import CountdownCore
import Foundation
import TestSupport
import Testing

@testable import countdownd

@Suite("The path of the log")
final class StorePathTests: StoreSuite {
    private var path: String { scene.log.folder }

    /// Why the store cannot be opened now, or cannot be written; nil if it can.
    private func reason() -> String? {
        do {
            _ = try scene.openOnce()
            return nil
        } catch OpenError.unavailable(let failure) {
            return failure.advice
        } catch let failure as StoreFailure {
            return failure.advice
        } catch {
            return "\(error)"
        }
    }

    @Test("may be a folder without files: a daemon was killed before it wrote the first one", arguments: [false, true])
    func killedInMaking(hasUnfinished: Bool) throws {
        unsafe mkdir(path, 0o700)
        if hasUnfinished { try scene.log.write("[\"segm".utf8, to: "0000000001.log.new") }
        for _ in 1...2 { try scene.open().turn(.start("tea\(scene.now.boot.microseconds)"), at: scene.now) }
        #expect(try scene.log.names == ["0000000001.log"])
        #expect(scene.lines.all.isEmpty)
    }

    enum Stranger: CaseIterable {
        case file, pipe, link, socket, linkToNothing

        var kind: String {
            switch self {
            case .file: "a file"
            case .pipe: "a named pipe"
            case .link, .linkToNothing: "a link"
            case .socket: "a socket"
            }
        }

        func make(at path: String) throws {
            switch self {
            case .file: _ = FileManager.default.createFile(atPath: path, contents: Data("text".utf8))
            case .pipe: unsafe mkfifo(path, 0o600)
            case .link:
                unsafe mkdir(path + "-elsewhere", 0o700)
                unsafe symlink(path + "-elsewhere", path)
            case .socket: _ = try ListeningSocket(path: path)
            case .linkToNothing: unsafe symlink("/tmp/countdownd-nothing-is-here/log", path)
            }
        }
    }

    @Test(
        "must be a folder: anything else does not change, and the failure says what it is",
        arguments: Stranger.allCases
    )
    func strangers(_ stranger: Stranger) throws {
        try stranger.make(at: path)
        let before = try scene.files.keys.sorted()
        #expect(reason() == "\(path): it is \(stranger.kind), not a folder: move it away")
        #expect(try scene.files.keys.sorted() == before)
        #expect(scene.lines.all.isEmpty)
        // Once it has been moved away, the next try is right.
        unsafe rename(path, path + "-moved")
        #expect(try scene.open().known.isEmpty)
    }

    @Test("is not made beside the database of an earlier version, which does not change; with both, the log counts")
    func database() throws {
        try scene.directory.write("rows", to: "countdowns.db")
        let database = scene.directory.path(of: "countdowns.db")
        let found = reason()
        let reason = try #require(found)
        #expect(reason.hasSuffix("to begin anew, mv \(database) \(database)-old"), "\(reason)")
        #expect(try scene.files == ["countdowns.db": Data("rows".utf8)])
        unsafe rename(database, database + "-old")
        do { try scene.open().turn(.start("tea"), at: scene.now) }
        unsafe rename(database + "-old", database)
        #expect(try scene.open().keys == ["tea"])
    }

    @Test("and its files do not change if the daemon may not access them", arguments: [0o000, 0o400] as [mode_t])
    func rightsOnFile(mode: mode_t) throws {
        do { try scene.open().turn(.start("tea"), at: scene.now) }
        try setModes(folder: 0o700, file: mode)
        let before = try scene.files
        let reason = try #require(withRightsOfNobody(reason))
        #expect(reason.contains("open: Permission denied"), "\(reason)")
        #expect(reason.hasSuffix("(see that its user may write there)"))
        #expect(try scene.files == before)
        unsafe chmod(scene.log.path(of: "0000000001.log"), 0o600)
        #expect(try scene.open().keys == ["tea"])
    }

    @Test("can be read if nothing there can be written: what is known is served")
    func readOnly() throws {
        do { try scene.open().turn(.start("tea"), at: scene.now) }
        try setModes(folder: 0o500, file: 0o400)
        let keys = withRightsOfNobody { try? self.scene.openOnce(beginning: false).keys }
        #expect(keys == ["tea"])
    }

    /// Gives all of it to nobody, with these modes.
    private func setModes(folder: mode_t, file: mode_t) throws {
        // As root, the test uses the rights of everybody in place of the owner's.
        func set(_ path: String, _ mode: mode_t) { unsafe chmod(path, mode | mode >> 3 | mode >> 6) }
        set(scene.directory.path(of: "lock"), 0o600)
        for name in try scene.log.names { set(scene.log.path(of: name), file) }
        set(path, folder)
        set(scene.directory.path, 0o700)
    }

    @Test("is locked: a second daemon is refused, also through a link, or if the lock file was removed")
    func secondDaemon() throws {
        let keeper = try scene.open()
        try keeper.turn(.start("tea"), at: scene.now)
        func isHeld(_ body: () throws -> Void) -> Bool {
            do { try body() } catch OpenError.held { return true } catch {}
            return false
        }
        unsafe unlink(scene.directory.path(of: "lock"))
        #expect(isHeld { _ = try scene.openOnce() })
        // Another folder that has the same files.
        let other = try TemporaryDirectory(inMemory: true)
        unsafe mkdir(other.path(of: "log"), 0o700)
        unsafe link(scene.log.path(of: "0000000001.log"), other.path(of: "log/0000000001.log"))
        let location = StoreLocation(
            directory: other.path,
            durability: .process,
            limits: Limits(),
            log: scene.lines.log
        )
        #expect(isHeld { _ = try location.open(at: scene.now) })
        withExtendedLifetime(keeper) {}
    }
}
