import CountdownCore
import Foundation
import TestSupport
import Testing

@testable import countdownd

@Suite("A store that was left in the other place")
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
    private func open(_ directory: String, or other: String? = nil) throws(StoreOpening.Failure) -> OpenedStore {
        let opening = StoreOpening(
            directory: directory,
            otherPlace: other,
            durability: .process,
            policy: Policy(),
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
        try opened.store.commit(changes, inHaste: false)
        return opened
    }

    private func files(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    @Test("comes over with all that its log held, and is not there any more")
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

    @Test("goes back to where the daemon is, as often as that changes")
    func movesBack() throws {
        try leave(["tea"], in: config)
        #expect(try keys(in: state, or: config) == ["tea"])
        #expect(try keys(in: config, or: state) == ["tea"])
        #expect(try keys(in: state, or: config) == ["tea"])
        #expect(try files(in: config) == ["lock"])
    }

    @Test("comes too where a daemon that was tried has made a store without a countdown")
    func replacesEmpty() throws {
        try leave(["tea"], in: config)
        try leave([], in: state)
        #expect(try keys(in: state, or: config) == ["tea"])
    }

    @Test("stays where both places have one, both are named, and what is advised works")
    func two() throws {
        try leave(["tea"], in: config)
        try leave(["coffee"], in: state)
        #expect(try keys(in: state, or: config) == ["coffee"])
        let line = try #require(lines.all.last)
        #expect(line.hasPrefix("warning: there is a second store, \(config)/countdowns.db: "))
        #expect(line.hasSuffix("to have its countdowns instead, stop countdownd and move \(state)/countdowns.db away"))
        #expect(try keys(in: config) == ["tea"])

        _ = unsafe rename("\(state)/countdowns.db", "\(state)/away.db")
        #expect(try keys(in: state, or: config) == ["tea"])
    }

    /// Looks in the other place as a daemon does that begins, and opens nothing afterwards.
    private func look(from directory: String, into other: String) throws {
        let file = StoreFile(
            path: "\(directory)/countdowns.db",
            durability: .process,
            loading: Loading(policy: Policy(), now: now, boot: ""),
            log: lines.log
        )
        try OtherPlace(directory: other, log: lines.log).moveStore(to: StateDirectory(path: directory), as: file)
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

    @Test("does not bring the daemon to change its own before that is known to be empty")
    func ownUnchanged() throws {
        try leave(["tea"], in: config)
        try kill(in: state, ["coffee"])
        let before = try contents(of: state)
        #expect(before["countdowns.db-wal"]?.isEmpty == false)
        try look(from: state, into: config)
        #expect(try contents(of: state) == before)
        #expect(try keys(in: state, or: config) == ["coffee"])
    }

    @Test("comes too where the daemon that was tried was killed, and its log holds no countdown")
    func replacesKilled() throws {
        try leave(["tea"], in: config)
        try kill(in: state, [])
        #expect(try contents(of: state)["countdowns.db-wal"]?.isEmpty == false)
        #expect(try keys(in: state, or: config) == ["tea"])
    }

    @Test("does not take the place of another program's database that has such a table without a row")
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

    @Test("stays where the log of another store stands in its way, which would be taken for its own")
    func strangeLog() throws {
        try leave(["tea"], in: config)
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        try home.write("a log", to: "state/countdowns.db-wal")
        _ = try open(state, or: config)
        #expect(try keys(in: config) == ["tea"])
        #expect(lines.all.contains { $0.hasPrefix("warning: there is a second store, \(config)/countdowns.db") })
    }

    @Test("stays with a living daemon, which is named")
    func held() throws {
        let living = try open(config)
        #expect(try keys(in: state, or: config) == [])
        let line = try #require(lines.all.last)
        #expect(line.hasPrefix("warning: \(config)/countdowns.db is left to the countdownd that has it (process "))
        withExtendedLifetime(living) {}
    }

    @Test("stays where one place is a link to the other, as systemd makes it")
    func linked() throws {
        try leave(["tea"], in: config)
        try FileManager.default.createSymbolicLink(atPath: state, withDestinationPath: config)
        #expect(try keys(in: state, or: config) == ["tea"])
        #expect(lines.all == [])
    }

    @Test("that is broken is named and left alone")
    func broken() throws {
        try FileManager.default.createDirectory(atPath: config, withIntermediateDirectories: true)
        try home.write(String(repeating: "no database", count: 1_000), to: "config/countdowns.db")
        #expect(try keys(in: state, or: config) == [])
        #expect(lines.all.first?.hasPrefix("error: the store \(config)/countdowns.db cannot be moved (") == true)
        #expect(try files(in: config).contains("countdowns.db"))
    }

    @Test("is waited for where it cannot be copied now, and nothing is begun in its place")
    func waits() throws {
        try leave(["tea"], in: config)
        let obstacle = "\(state)/countdowns.db.part"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
        #expect(throws: StoreOpening.Failure.self) { _ = try open(state, or: config) }
        #expect(try files(in: state) == ["countdowns.db.part", "lock"])
        try FileManager.default.removeItem(atPath: obstacle)
        #expect(try keys(in: state, or: config) == ["tea"])
    }

    @Test("an attempt that was broken off is made anew")
    func brokenOff() throws {
        try leave(["tea"], in: config)
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        try home.write("half a copy", to: "state/countdowns.db.part")
        #expect(try keys(in: state, or: config) == ["tea"])
        #expect(!(try files(in: state).contains("countdowns.db.part")))
    }
}

@Suite("The places that a user's store can be in")
struct PlacesTests {
    private func other(than path: String, _ environment: [String: String]) -> String? {
        StateDirectory.otherPlace(than: path) { environment[$0] }
    }

    @Test("they are systemd's of before 254 and of since, and each is the other of the other")
    func both() {
        let home = ["HOME": "/home/alice"]
        #expect(other(than: "/home/alice/.config/countdownd", home) == "/home/alice/.local/state/countdownd")
        #expect(other(than: "/home/alice/.local/state/countdownd", home) == "/home/alice/.config/countdownd")
    }

    @Test("the variables of the XDG Base Directory Specification say where they are, with slashes too many or not")
    func variables() {
        let environment = ["HOME": "/home/alice", "XDG_CONFIG_HOME": "/c/", "XDG_STATE_HOME": "/s"]
        #expect(other(than: "/c/countdownd", environment) == "/s/countdownd")
        #expect(other(than: "/s/countdownd", environment) == "/c//countdownd")
        #expect(other(than: "/home/alice/.config/countdownd", environment) == nil)
    }

    @Test(
        "a directory elsewhere has none, as it is another unit's, or the system's",
        arguments: ["/home/alice/.local/state/second", "/var/lib/countdownd/workers", "/var/lib/countdownd"]
    )
    func elsewhere(_ path: String) {
        #expect(other(than: path, ["HOME": "/home/alice"]) == nil)
        #expect(other(than: path, [:]) == nil)
    }

    @Test("where both are one directory there is no other")
    func same() {
        let environment = ["XDG_CONFIG_HOME": "/x", "XDG_STATE_HOME": "/x"]
        #expect(other(than: "/x/countdownd", environment) == nil)
    }
}
