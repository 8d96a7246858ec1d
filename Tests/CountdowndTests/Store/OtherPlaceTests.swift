import CountdownCore
import Foundation
import TestSupport
import Testing

@testable import countdownd

@Suite("A store in the state directory of another systemd version")
struct OtherPlaceTests {
    private let home: TemporaryDirectory
    private let lines = Lines()
    private let now = SetClocks().now

    private var config: String { home.path(of: "config") }
    private var state: String { home.path(of: "state") }

    init() throws {
        home = try TemporaryDirectory()
    }

    /// What a daemon finds that has its store in one place, and is to look in the other.
    private func open(_ directory: String, or other: String? = nil) throws(OpenError) -> OpenedStore {
        let opening = StoreLocation(
            directory: directory,
            legacyDirectory: other,
            durability: .process,
            limits: Limits(),
            log: lines.log
        )
        return try opening.open(at: now)
    }

    private func keys(in directory: String, or other: String? = nil) throws -> [String] {
        let opened = try open(directory, or: other)
        return try ["tea", "coffee"].filter { opened.timetable.countdown(under: try Key($0)) != nil }
    }

    /// Leaves a store behind with these countdowns, as a daemon does that is killed: the log holds them.
    private func leave(_ keys: [String], in directory: String) throws {
        _ = try leaveOpen(keys, in: directory)
    }

    private func leaveOpen(_ keys: [String], in directory: String) throws -> OpenedStore {
        var opened = try open(directory)
        var changes = Changes()
        for key in keys {
            let start = Request.Start(try Key(key), .after(.seconds(600)))
            guard case .change(let change) = try opened.timetable.decide(.start(start), at: now) else { continue }
            opened.timetable.apply(change)
            changes.steps.append(change)
        }
        try opened.store.commit(changes, deferringCleanup: false)
        return opened
    }

    private func files(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    @Test("it is moved with everything in its log")
    func moves() throws {
        try leave(["tea", "coffee"], in: config)
        let revision = try open(config).timetable.revision
        let opened = try open(state, or: config)
        let tea = opened.timetable.countdown(under: try Key("tea"))
        #expect(tea != nil)
        let newest = opened.timetable.revision
        #expect(newest >= revision)
        #expect(try files(in: config) == ["lock"])
        #expect(
            lines.all == ["notice: the store \(config)/countdowns.db was moved to \(state)/countdowns.db"]
        )
    }

    @Test("it follows the daemon, however often the directory changes")
    func movesBack() throws {
        try leave(["tea"], in: config)
        #expect(try keys(in: state, or: config) == ["tea"])
        #expect(try keys(in: config, or: state) == ["tea"])
        #expect(try keys(in: state, or: config) == ["tea"])
        #expect(try files(in: config) == ["lock"])
    }

    @Test("it is moved even if the daemon's own directory has a store without countdowns")
    func replacesEmpty() throws {
        try leave(["tea"], in: config)
        try leave([], in: state)
        #expect(try keys(in: state, or: config) == ["tea"])
    }

    @Test("if both directories have a store, nothing is moved, both are logged, and the advice works")
    func two() throws {
        try leave(["tea"], in: config)
        try leave(["coffee"], in: state)
        #expect(try keys(in: state, or: config) == ["coffee"])
        let line = try #require(lines.all.last)
        #expect(line.hasPrefix("warning: there is a second store, \(config)/countdowns.db: "))
        #expect(line.hasSuffix("to use it instead, stop countdownd and move \(state)/countdowns.db away"))
        #expect(try keys(in: config) == ["tea"])

        _ = unsafe rename("\(state)/countdowns.db", "\(state)/away.db")
        #expect(try keys(in: state, or: config) == ["tea"])
    }

    /// Looks in the other place as a daemon does that begins, and opens nothing afterwards.
    private func look(from directory: String, into other: String) throws {
        let file = StoreFile(
            path: "\(directory)/countdowns.db",
            durability: .process,
            recovery: Recovery(limits: Limits(), now: now, bootID: ""),
            log: lines.log
        )
        try LegacyStateDirectory(directory: other, log: lines.log).moveStore(
            to: StateDirectory(path: directory),
            as: file
        )
    }

    /// What the files of a store are, without the index of its log.
    private func contents(of directory: String) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try files(in: directory) where name.hasPrefix("countdowns.db") && !name.hasSuffix("-shm") {
            contents[name] = FileManager.default.contents(atPath: "\(directory)/\(name)")
        }
        return contents
    }

    /// Goes on in a directory with the files of a store as they are while a daemon has it.
    private func kill(in directory: String, _ keys: [String]) throws {
        let living = home.path(of: "living")
        try withExtendedLifetime(leaveOpen(keys, in: living)) {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            for (name, bytes) in try contents(of: living) {
                try bytes.write(to: URL(filePath: "\(directory)/\(name)"))
            }
        }
    }

    @Test("the daemon's own store does not change before it is known to be empty")
    func ownUnchanged() throws {
        try leave(["tea"], in: config)
        try kill(in: state, ["coffee"])
        let before = try contents(of: state)
        #expect(before["countdowns.db-wal"]?.isEmpty == false)
        try look(from: state, into: config)
        #expect(try contents(of: state) == before)
        #expect(try keys(in: state, or: config) == ["coffee"])
    }

    @Test("it is moved even if the daemon's own store was not closed, if its log has no countdowns")
    func replacesKilled() throws {
        try leave(["tea"], in: config)
        try kill(in: state, [])
        #expect(try contents(of: state)["countdowns.db-wal"]?.isEmpty == false)
        #expect(try keys(in: state, or: config) == ["tea"])
    }

    @Test("it does not replace another program's database, even if that has an empty table of the same name")
    func strangeDatabase() throws {
        try leave(["tea"], in: config)
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        let strange = try Database(path: "\(state)/countdowns.db", busyMilliseconds: 0, creating: true)
        try strange.execute("CREATE TABLE countdown (number); CREATE TABLE other (text)")
        try strange.execute("INSERT INTO other VALUES ('kept')")
        let before = try contents(of: state)
        try look(from: state, into: config)
        #expect(try contents(of: state) == before)
        #expect(try keys(in: config) == ["tea"])
    }

    @Test("it is not moved beside the log of another store, which could be mistaken for its own")
    func strangeLog() throws {
        try leave(["tea"], in: config)
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        try home.write("a log", to: "state/countdowns.db-wal")
        _ = try open(state, or: config)
        #expect(try keys(in: config) == ["tea"])
        #expect(lines.all.contains { $0.hasPrefix("warning: there is a second store, \(config)/countdowns.db") })
    }

    @Test("it is not moved from a living daemon, which is named")
    func held() throws {
        let living = try open(config)
        #expect(try keys(in: state, or: config) == [])
        let line = try #require(lines.all.last)
        #expect(line.hasPrefix("warning: \(config)/countdowns.db is held by another countdownd (process "))
        withExtendedLifetime(living) {}
    }

    @Test("it is not moved if one directory is a link to the other, as systemd makes it")
    func linked() throws {
        try leave(["tea"], in: config)
        try FileManager.default.createSymbolicLink(atPath: state, withDestinationPath: config)
        #expect(try keys(in: state, or: config) == ["tea"])
        #expect(lines.all == [])
    }

    @Test("if it is corrupt, it is logged and does not change")
    func broken() throws {
        try FileManager.default.createDirectory(atPath: config, withIntermediateDirectories: true)
        try home.write(String(repeating: "no database", count: 1_000), to: "config/countdowns.db")
        #expect(try keys(in: state, or: config) == [])
        #expect(lines.all.first?.hasPrefix("error: the store \(config)/countdowns.db cannot be moved (") == true)
        #expect(try files(in: config).contains("countdowns.db"))
    }

    @Test("if it cannot be copied now, the daemon waits and creates no new store")
    func waits() throws {
        try leave(["tea"], in: config)
        let obstacle = "\(state)/countdowns.db.part"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
        #expect(throws: OpenError.self) { _ = try open(state, or: config) }
        #expect(try files(in: state) == ["countdowns.db.part", "lock"])
        try FileManager.default.removeItem(atPath: obstacle)
        #expect(try keys(in: state, or: config) == ["tea"])
    }

    @Test("an interrupted move is repeated")
    func brokenOff() throws {
        try leave(["tea"], in: config)
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        try home.write("half a copy", to: "state/countdowns.db.part")
        #expect(try keys(in: state, or: config) == ["tea"])
        #expect(!(try files(in: state).contains("countdowns.db.part")))
    }
}

@Suite("The state directories of a user")
struct PlacesTests {
    private func other(than path: String, _ environment: [String: String]) -> String? {
        StateDirectory.legacyDirectory(than: path) { environment[$0] }
    }

    @Test("they are those of systemd before and since version 254, and each is the other of the other")
    func both() {
        let home = ["HOME": "/home/alice"]
        #expect(other(than: "/home/alice/.config/countdownd", home) == "/home/alice/.local/state/countdownd")
        #expect(other(than: "/home/alice/.local/state/countdownd", home) == "/home/alice/.config/countdownd")
    }

    @Test("they follow the variables of the XDG Base Directory Specification, with any number of slashes")
    func variables() {
        let environment = ["HOME": "/home/alice", "XDG_CONFIG_HOME": "/c/", "XDG_STATE_HOME": "/s"]
        #expect(other(than: "/c/countdownd", environment) == "/s/countdownd")
        #expect(other(than: "/s/countdownd", environment) == "/c//countdownd")
        #expect(other(than: "/home/alice/.config/countdownd", environment) == nil)
    }

    @Test(
        "any other directory, such as that of another unit or of the system, has no second one",
        arguments: ["/home/alice/.local/state/second", "/var/lib/countdownd/workers", "/var/lib/countdownd"]
    )
    func elsewhere(_ path: String) {
        #expect(other(than: path, ["HOME": "/home/alice"]) == nil)
        #expect(other(than: path, [:]) == nil)
    }

    @Test("if both are the same directory, there is no second one")
    func same() {
        let environment = ["XDG_CONFIG_HOME": "/x", "XDG_STATE_HOME": "/x"]
        #expect(other(than: "/x/countdownd", environment) == nil)
    }
}
