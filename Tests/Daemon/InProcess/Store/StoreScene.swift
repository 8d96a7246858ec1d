import CountdownCore
import Foundation
import TestSupport

@testable import countdownd

/// A store that one daemon after the other opens, on a machine whose clocks a test sets.
final class StoreScene {
    private(set) var directory: TemporaryDirectory
    let lines = Lines()
    /// Some day in 2025.
    var now = Now(boot: BootInstant(microseconds: 1_000_000_000), offset: .seconds(1_750_000_000))
    var bootID = "first boot"
    var limits = Limits()
    var schema = Schema.current
    var thresholds = StoreThresholds()
    /// Whether the daemons are members of a fleet.
    var followsEngine = false

    init(inMemory: Bool = false) throws {
        directory = try TemporaryDirectory(inMemory: inMemory)
    }

    var path: String { directory.path(of: "countdowns.db") }

    /// The file, as a daemon that starts now opens it.
    func file(_ durability: Durability = .process) -> StoreFile {
        StoreFile(
            path: path,
            durability: durability,
            recovery: Recovery(limits: limits, now: now, bootID: bootID, followsEngine: followsEngine),
            log: lines.log,
            schema: schema,
            thresholds: thresholds
        )
    }

    /// Opens the store. If another test starts a program meanwhile, that has the locks of a store which was closed, too,
    /// until it runs.
    func open() throws -> Keeper {
        for _ in 1...10_000 {
            do {
                return try openOnce()
            } catch OpenError.held {
                sched_yield()
            }
        }
        return try openOnce()
    }

    private func openOnce() throws -> Keeper {
        try Keeper(file().open(in: .ofStore(at: directory.path)))
    }

    /// A connection beside the daemon's, such as a person's, which leaves the log as it is.
    func connect() throws -> Database {
        let database = try Database(path: path, busyMilliseconds: 1_000, creating: true, trustingSchema: true)
        database.keepLogOnClose(true)
        return database
    }

    /// Runs statements, in which rows of the view `countdown` can be updated and deleted.
    func execute(_ sql: String) throws {
        let database = try connect()
        try EditableRows.enable(in: database)
        try database.execute(sql)
    }

    /// The integer that a person's query for one comes to.
    func integer(_ query: String) throws -> Int64? {
        try connect().integer(query)
    }

    func pass(_ span: Duration, thenSetBy step: Duration = .zero) {
        now = Now(boot: now.boot + span, offset: now.offset + step)
    }

    /// What the files are as a daemon leaves them that is killed: those that there are now go on in another directory.
    func crash() throws {
        let next = try TemporaryDirectory()
        for (name, contents) in try files where !name.hasSuffix("-shm") {
            try contents.write(to: URL(fileURLWithPath: next.path(of: name)))
        }
        directory = next
    }

    /// What is in the directory, but for the lock; of what is no file, no contents.
    var files: [String: Data] {
        get throws {
            var files: [String: Data] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name != "lock" {
                files[name] = FileManager.default.contents(atPath: directory.path(of: name)) ?? Data()
            }
            return files
        }
    }
}

/// What a daemon does with its store in its turns.
final class Keeper {
    private var opened: OpenedStore
    /// Whether one turn follows upon the other, or there is a pause after each.
    var defersCleanup = false

    init(_ opened: consuming OpenedStore) {
        self.opened = opened
    }

    var timetable: Timetable {
        _read { yield opened.timetable }
        _modify { yield &opened.timetable }
    }

    var store: any Store { opened.store }
    var stepRevision: Revision? { opened.stepRevision }
    var offset: Duration? { opened.offset }

    func canResume(after revision: Revision) -> Bool { timetable.canResume(after: revision) }

    /// Carries requests out in one turn.
    @discardableResult
    func turn(_ requests: Request..., at now: Now) throws -> [Change] {
        try turn(requests, at: now)
    }

    @discardableResult
    func turn(_ requests: [Request], clockStep: ClockStep? = nil, at now: Now) throws -> [Change] {
        var changes = Changes(steps: [], clockStep: clockStep)
        while let ending = timetable.expireNext(at: now) { changes.steps.append(ending) }
        for request in requests {
            guard case .change(let change) = try timetable.decide(request, at: now) else { continue }
            timetable.apply(change)
            changes.steps.append(change)
        }
        if !changes.isEmpty { try store.commit(changes, deferringCleanup: defersCleanup) }
        while !defersCleanup, try store.cleanUp() {}
        return changes.steps
    }

    /// Lets go of endings that are too many or too old.
    func trim(at now: Now) {
        var limit = Int.max
        store.drop(timetable.compact(at: now, budget: &limit))
    }

    func stop() {
        store.close(at: timetable.revision)
    }

    /// All that is known, in the order of revisions.
    var known: [KeyedCountdown] { Self.known(in: &timetable) }

    static func known(in timetable: inout Timetable) -> [KeyedCountdown] {
        var known: [KeyedCountdown] = []
        let scan = timetable.openScan(live: .oldest, ended: .oldest)
        var limit = Int.max
        _ = timetable.scan(scan, budget: &limit) { timetable, slot in
            known.append(timetable[slot])
            return true
        }
        timetable.closeScan(scan)
        return known
    }

    subscript(_ key: String) -> KeyedCountdown? {
        get throws { timetable.countdown(under: try Key(key)) }
    }
}

extension Request {
    static func start(_ key: String, for seconds: Int64 = 600) throws -> Request {
        .start(Start(try Key(key), .after(.seconds(seconds))))
    }
}

/// A store, new for each test.
class StoreSuite {
    let scene: StoreScene

    init() throws { scene = try StoreScene() }
}
