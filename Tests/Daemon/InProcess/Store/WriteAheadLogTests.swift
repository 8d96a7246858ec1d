import CountdownCore
import Dispatch
import Foundation
import System
import TestSupport
import Testing

@testable import countdownd

@Suite("The write-ahead log")
struct WriteAheadLogTests {
    private let scene: StoreScene
    private let keeper: Keeper

    init() throws {
        scene = try StoreScene()
        // A sixteenth of a real log and of the dead rows.
        scene.thresholds = StoreThresholds(worthCopying: 512, many: 2_048, tooMany: 3_584, deadRows: 8_192)
        keeper = try scene.open()
    }

    /// What a log is as long as that has been cut off, and has grown until it was copied since.
    private static let short = 2 << 20

    private static func restart(_ number: Int) throws -> Request {
        .start(Request.Start(try Key("key \(number)"), ifLive: .restart))
    }

    /// Commits so many turns of one change each, and measures the log after every few of them.
    ///
    /// - Returns: the greatest length.
    private func commit(_ turns: Int) throws -> Int {
        var greatest = 0
        for turn in 0..<turns {
            try keeper.turn(Self.restart(turn % 1_000), at: scene.now)
            if turn.isMultiple(of: 64) { greatest = max(greatest, try length) }
        }
        return greatest
    }

    /// Commits turns until the log is short, at most 2,000, with a pause after each in which the background finishes its copy.
    private func commitWithPauses() throws {
        keeper.defersCleanup = false
        let store = try #require(keeper.store as? SQLiteStore)
        for turn in 0..<2_000 where try length > Self.short {
            try keeper.turn(Self.restart(turn % 1_000), at: scene.now)
            store.checkpointer.queue.sync {}
        }
        #expect(try length <= Self.short)
    }

    private var length: Int {
        get throws { Int(try #require(FileIdentity.status(of: scene.path + "-wal")).st_size) }
    }

    @Test("it is limited if turns never pause, and short after a pause")
    func bounded() throws {
        keeper.defersCleanup = true
        #expect(try commit(15_000) < 8 << 20)
        #expect(keeper.store.checkpoints > 0)
        try commitWithPauses()
    }

    @Test("a copy in the background counts as running to its end, even if the daemon copies the rest meanwhile")
    func stillCopying() throws {
        let checkpointer = Checkpointer(path: scene.path, thresholds: scene.thresholds)
        checkpointer.queue.suspend()
        checkpointer.start()
        checkpointer.hasFinished()
        #expect(checkpointer.isCopying)
        checkpointer.queue.resume()
        checkpointer.queue.sync {}
        #expect(!checkpointer.isCopying)
    }

    @Test("the number of dead rows is limited")
    func lyingAround() throws {
        keeper.defersCleanup = true
        // Each takes the place of the one before.
        for _ in 0..<20 { try keeper.turn((0..<1_000).map { try Self.restart($0) }, at: scene.now) }
        let rows = try #require(try scene.integer("SELECT count(*) FROM countdown"))
        #expect((8_192..<12_000).contains(rows))
    }

    @Test("a connection that has read nothing, like the one in the background, can copy it")
    func copied() throws {
        _ = try commit(100)
        let before = try #require(scene.files["countdowns.db"])
        let copy = try Database(path: scene.path, busyMilliseconds: 0).checkpoint()
        #expect(copy.frames > 0)
        #expect(copy.copied == copy.frames)
        #expect(try #require(scene.files["countdowns.db"]).count > before.count)
    }

    @Test("turns in quick succession are stored although another program writes between them")
    func writer() throws {
        keeper.defersCleanup = true
        for turn in 0..<10 {
            try keeper.turn(Self.restart(turn), at: scene.now)
            try scene.execute("UPDATE daemon SET is_stopped = 1; UPDATE daemon SET is_stopped = 0")
        }
        try scene.crash()
        #expect(try scene.open().known.count == 10)
    }

    @Test("after turns in quick succession another program can truncate it, once the daemon is idle")
    func truncated() throws {
        keeper.defersCleanup = true
        for turn in 0..<10 { try keeper.turn(Self.restart(turn), at: scene.now) }
        _ = try keeper.store.cleanUp()
        // The pragma returns 1 if another connection prevents it.
        #expect(try scene.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0)
        #expect(try length == 0)
    }

    @Test("it grows while another program reads an old state, without a failure, and is short soon after that")
    func reader() throws {
        do {
            let reader = try scene.connect()
            try reader.execute("BEGIN; SELECT count(*) FROM countdown")
            #expect(try commit(4_000) > Self.short)
            #expect(try reader.integer("SELECT count(*) FROM countdown") == 0)
        }
        try commitWithPauses()
        try scene.crash()
        #expect(try scene.open().known.count == 1_000)
    }
}
