import CountdownCore
import Foundation
import TestSupport
import Testing

@testable import countdownd

/// A store with rows of every kind, before it is damaged.
struct SampleStore: Sendable {
    /// The file with all rows.
    let whole: Data
    /// The file, and the log beside it, before the second half of its rows was copied.
    let older: Data
    let log: Data
    let rows: Int
    let rowsOfOlder: Int

    static let made = Result { try SampleStore() }

    private init() throws {
        let scene = try StoreScene()
        do {
            let keeper = try scene.open()
            try Self.fill(keeper, 0..<40, scene)
            keeper.stop()
        }
        rowsOfOlder = Int(try #require(try scene.integer("SELECT count(*) FROM countdown")))
        older = try #require(scene.files["countdowns.db"])
        do {
            let keeper = try scene.open()
            try Self.fill(keeper, 40..<80, scene)
            try scene.crash()
        }
        rows = Int(try #require(try scene.integer("SELECT count(*) FROM countdown")))
        log = try #require(scene.files["countdowns.db-wal"])
        let copy = try Database(path: scene.path, busyMilliseconds: 0).checkpoint()
        try #require(copy.copied == copy.frames)
        whole = try #require(scene.files["countdowns.db"])
    }

    private static func fill(_ keeper: Keeper, _ numbers: Range<Int>, _ scene: StoreScene) throws {
        for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 20) {
            try keeper.turn((first..<first + 20).flatMap { try requests($0, at: scene.now) }, at: scene.now)
        }
    }

    private static func requests(_ number: Int, at now: Now) throws -> [Request] {
        let key = try Key("key \(number)")
        var start = Request.Start(key, number % 3 == 0 ? .at(now.wall + .seconds(900)) : .after(.seconds(900)))
        start.label = number % 2 == 0 ? String(repeating: "label \(number) ", count: 80) : nil
        start.metadata = number % 20 == 0 ? ["long": String(repeating: "x", count: 2_000)] : ["number": "\(number)"]
        start.forget = number % 11 == 0
        switch number % 7 {
        case 1: return [.start(start), .pause(key)]
        case 2: return [.start(start), .cancel(key)]
        case 3: return [.start(start), .finish(key), .start(start)]
        case 4: return [.start(start), .adjust(key, .by(.seconds(60)))]
        default: return [.start(start)]
        }
    }
}

/// Files in the place of a daemon's store.
struct DamagedStore {
    /// The daemon's reaction to them.
    enum Outcome: Equatable {
        /// The store is served with this many rows; the skipped rows were logged.
        case served(rows: Int, skipped: Int)
        case keptAside
    }

    let database: Data?
    var log: Data?

    private var files: [String: Data] {
        [("countdowns.db", database), ("countdowns.db-wal", log)].reduce(into: [:]) { $0[$1.0] = $1.1 }
    }

    private func place(in scene: StoreScene) throws {
        for (name, contents) in files { try contents.write(to: URL(fileURLWithPath: scene.directory.path(of: name))) }
    }

    /// Lets a daemon open the files, which may neither trap nor lose anything silently.
    func open() throws -> Outcome {
        let scene = try StoreScene(inMemory: true)
        try place(in: scene)
        var opened = try scene.file().openOrBeginAnew()
        let known = Keeper.known(in: &opened.result.timetable).count
        // Later steps may fail if only they meet the damage.
        try? opened.database.execute("INSERT INTO gap SELECT -first, 0 FROM batch; DELETE FROM batch")
        let kept = try scene.files.filter { $0.key.hasPrefix("countdowns-unreadable") && !$0.key.hasSuffix("-shm") }
        guard kept.isEmpty else {
            let before = files.filter { !$0.value.isEmpty }.values.map(\.self)
            #expect(kept.values.filter { !$0.isEmpty }.sorted(by: order) == before.sorted(by: order))
            #expect(scene.lines.all.count == 1)
            #expect(scene.lines.all.first?.contains("cannot be read") == true)
            #expect(known == 0)
            return .keptAside
        }
        #expect(scene.lines.all.count == (opened.result.skipped.isEmpty ? 0 : 1))
        return .served(
            rows: known + opened.result.deadRows.count + opened.result.skipped.count,
            skipped: opened.result.skipped.count
        )
    }

    private func order(_ left: Data, _ right: Data) -> Bool { left.lexicographicallyPrecedes(right) }

    /// Compares the daemon's reaction with SQLite's report on the files.
    ///
    /// - Parameters:
    ///   - keptAside: whether they must be quarantined; nil if SQLite's report decides.
    ///   - location: the place in the test.
    /// - Throws: that they cannot be written.
    func expect(keptAside: Bool? = nil, _ location: SourceLocation = #_sourceLocation) throws {
        let outcome = try open()
        if let keptAside { #expect((outcome == .keptAside) == keptAside, sourceLocation: location) }
        switch (outcome, try rowsBySQLite()) {
        case (.served(let rows, let skipped), let count?):
            // A skipped row may hide an earlier one of its key.
            #expect((count - skipped...count).contains(rows), sourceLocation: location)
        case (.served, nil): Issue.record("SQLite calls it malformed, and it was served", sourceLocation: location)
        case (.keptAside, _): break
        }
    }

    /// The number of rows; nil if SQLite cannot count them, or reports corrupt pages.
    private func rowsBySQLite() throws -> Int? {
        guard database != nil else { return nil }
        let scene = try StoreScene(inMemory: true)
        try place(in: scene)
        do {
            let connection = try scene.connect()
            let check = try connection.prepare("PRAGMA quick_check")
            while try check.step() { if check.text(0)?.hasPrefix("*** in database") == true { return nil } }
            for table in ["boot", "gap", "daemon"] { try connection.execute("SELECT * FROM \(table)") }
            let batches = try connection.prepare("SELECT changes FROM batch")
            var count = 0
            while try batches.step() { count += batches.bytes(0).count { $0 == UInt8(ascii: "\n") } + 1 }
            return count
        } catch {
            return nil
        }
    }
}
