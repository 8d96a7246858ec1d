import CountdownCore
import TestSupport
import Testing

@testable import countdownd

@Suite("Upgrading an older store")
struct MigrationTests {
    /// The daemon's store after two upgrades that the tests define.
    private static let later = Schema(
        first: Schema.current.first,
        steps: Schema.current.steps + [
            """
            ALTER TABLE batch ADD COLUMN note TEXT NOT NULL DEFAULT 'none';
            UPDATE batch SET note = 'next version, ' || changes;
            """,
            """
            CREATE TABLE other (id INTEGER PRIMARY KEY);
            INSERT INTO other SELECT first FROM batch;
            ALTER TABLE batch ADD COLUMN remark TEXT;
            UPDATE batch SET remark = note;
            """,
        ]
    )
    private static let first = Schema.current.version

    private let scene: StoreScene
    private let keys = (0..<200).map { "\($0)" }

    init() throws {
        scene = try StoreScene()
        do {
            let keeper = try scene.open()
            for key in keys { try keeper.turn(.start(key), at: scene.now) }
            try scene.crash()
        }
    }

    private var version: Int64? { get throws { try scene.integer("PRAGMA user_version") } }

    @Test("an older store is upgraded with all its rows, also those in its log")
    func migrates() throws {
        scene.schema = Self.later
        for _ in 1...2 {
            let keeper = try scene.open()
            #expect(keeper.known.map(\.key.text) == keys)
            #expect(try version == Self.first + 2)
            #expect(try scene.integer("SELECT count(*) FROM batch WHERE remark = 'next version, ' || changes") == 200)
            #expect(try scene.integer("SELECT count(*) FROM other") == 200)
        }
        #expect(scene.lines.all.isEmpty)
    }

    @Test("an upgraded store has the same tables as a new one")
    func sameTables() throws {
        let new = try StoreScene()
        for scene in [scene, new] {
            scene.schema = Self.later
            try scene.open().turn(.start("new"), at: scene.now)
            let database = try scene.connect()
            #expect(try Self.later.strangeTable(in: database, ofVersion: Self.later.version) == nil)
        }
        #expect(try new.integer("PRAGMA user_version") == Self.later.version)
    }

    @Test(
        "if a step fails half-way, the store does not change, the failure is reported, and the upgrade is tried again"
    )
    func fails() throws {
        let step = "DELETE FROM batch; INSERT INTO missing VALUES (1);"
        scene.schema = Schema(first: Schema.current.first, steps: Schema.current.steps + [step])
        let error = #expect(throws: OpenError.self) { try scene.open() }
        guard case .unavailable(let failure) = error else { return }
        let reason = "it cannot be upgraded from version \(Self.first) to \(Self.first + 1): no such table: missing"
        #expect(failure.reason == "\(scene.path): \(reason)")
        scene.schema = .current
        let keeper = try scene.open()
        #expect(keeper.known.map(\.key.text) == keys)
        #expect(keeper.known.allSatisfy { $0.label == nil })
        #expect(try version == Self.first)
        #expect(scene.lines.all.isEmpty)
    }

    @Test("if a later step fails, no step is kept, so that the older daemon can still read the store")
    func allOrNothing() throws {
        let steps = Self.later.steps
        scene.schema = Schema(first: Self.later.first, steps: steps.dropLast() + ["DROP TABLE missing"])
        #expect(throws: OpenError.self) { try scene.open() }
        scene.schema = .current
        #expect(try scene.open().known.map(\.key.text) == keys)
        #expect(try version == Self.first)
        scene.schema = Self.later
        #expect(try scene.open().known.map(\.key.text) == keys)
        #expect(try version == Self.first + 2)
    }

    @Test("if the daemon is killed during a step, with half of it in the log, the store does not change")
    func killed() throws {
        struct Killed: Error {}
        do {
            let database = try scene.connect()
            // So that the changes are written before the commit.
            try database.execute("PRAGMA cache_size = 1; BEGIN IMMEDIATE; \(Self.later.steps[Int(Self.first) - 1])")
            try database.execute("PRAGMA user_version = \(Self.first + 1)")
            let before = try #require(scene.files["countdowns.db-wal"]).count
            try database.execute("UPDATE batch SET changes = hex(zeroblob(400))")
            try #require(try scene.files["countdowns.db-wal"]?.count ?? 0 > before)
            try scene.crash()
        }
        #expect(try scene.open().known.map(\.key.text) == keys)
        #expect(try version == Self.first)
        scene.schema = Self.later
        #expect(try scene.open().known.map(\.key.text) == keys)
        #expect(try version == Self.first + 2)
    }

    @Test("an older store that cannot be read is quarantined unchanged")
    func unreadable() throws {
        try scene.connect().execute("UPDATE daemon SET boot_id = x'07'")
        let before = try scene.files["countdowns.db-wal"]
        scene.schema = Self.later
        #expect(try scene.open().known.isEmpty)
        #expect(try scene.files["countdowns-unreadable-20250615T152320Z.db-wal"] == before)
    }
}
