import CountdownCore
import Foundation
import TestSupport
import Testing

@testable import countdownd

@Suite("The write-ahead log")
struct LogLengthTests {
    private let scene: StoreScene
    private let keeper: Keeper

    init() throws {
        scene = try StoreScene()
        keeper = try scene.open()
    }

    /// Commits so many turns of one change each, and measures the log after every few of them.
    ///
    /// - Returns: the greatest length.
    private func commit(_ turns: Int, while goesOn: (Int) -> Bool = { _ in true }) throws -> Int {
        var greatest = 0
        for turn in 0..<turns {
            let start = Request.Start(try Key("key \(turn % 1_000)"), ifLive: .restart)
            try keeper.turn(.start(start), at: scene.now)
            guard turn.isMultiple(of: 64) else { continue }
            let length = try length
            greatest = max(greatest, length)
            if !goesOn(length) { break }
        }
        return greatest
    }

    private var length: Int {
        get throws { Int(try #require(FileIdentity.status(of: scene.path + "-wal")).st_size) }
    }

    @Test("stays below 64 MiB, however many turns are stored without a pause")
    func bounded() throws {
        #expect(try commit(100_000) < 64 << 20)
        #expect(keeper.opened.store.checkpoints > 0)
    }

    @Test("is copied by a connection that has read nothing before, as that in the background is")
    func copied() throws {
        _ = try commit(100)
        let before = try #require(scene.files["countdowns.db"])
        #expect(try Database(path: scene.path, busyMilliseconds: 0).checkpoint() == 0)
        #expect(try #require(scene.files["countdowns.db"]).count > before.count)
    }

    @Test("grows while somebody reads an old state, which is no failure, and is short again soon after that")
    func reader() throws {
        let short = 8 << 20
        do {
            let reader = try scene.connect()
            try reader.execute("BEGIN; SELECT count(*) FROM countdown")
            #expect(try commit(10_000) > short)
            #expect(try reader.integer("SELECT count(*) FROM countdown") == 0)
        }
        _ = try commit(100_000) { $0 > short }
        #expect(try length <= short)
        try scene.crash()
        #expect(try scene.open().known.count == 1_000)
    }
}
