import CountdownCore
import Foundation
import TestSupport
import Testing

@testable import countdownd

@Suite("A base")
final class BaseTests: StoreSuite {
    override init() throws {
        try super.init()
        scene.thresholds = StoreThresholds(segmentBytes: 8_192, tolerated: 16_384)
    }

    private func bytes() throws -> Int { try scene.log.names.reduce(0) { try $0 + scene.log.bytes(of: $1).count } }

    @Test("is written when enough lines are dead, so that the log stays small; everything is in it and behind it")
    func bounded() throws {
        let known: [KeyedCountdown]
        do {
            let keeper = try scene.open()
            for number in 0..<3_000 {
                let key = "key \(number % 50)"
                try keeper.turn(
                    number > 50 && number % 7 == 3 ? .pause(Key(key)) : .restart(key, label: "\(number)"),
                    at: scene.now
                )
                keeper.work(at: scene.now)
                if number.isMultiple(of: 100) { #expect(try bytes() < 48 << 10) }
            }
            #expect(keeper.store.bases > 5)
            known = keeper.known
            try scene.crash()
        }
        #expect(try scene.open().known == known)
        #expect(scene.lines.all.isEmpty)
    }

    @Test("with power-loss, zeros lie ahead of the turns when the daemon is idle, so that a change writes no metadata")
    func zerosAhead() throws {
        scene.durability = .powerLoss
        scene.thresholds = StoreThresholds()
        let keeper = try scene.open()
        for number in 0..<150 {
            try keeper.turn(.restart("\(number)", label: String(repeating: "a", count: 1_000)), at: scene.now)
        }
        keeper.work(at: scene.now)
        let name = try scene.log.last
        let rest = try scene.log.bytes(of: name).count - #require(scene.log.ends(of: name).last)
        #expect(rest >= 128 << 10)
    }

    @Test("as many ends as are stored at once fit into a turn, whatever their texts are")
    func longestPart() throws {
        let keeper = try scene.open()
        let limits = Limits()
        let text = String(repeating: "\u{1}", count: limits.metadataBytes - 1)
        let requests: [Request] = try (0..<RetryingStore.mostInPart).map { number in
            var start = Request.Start(try Key("\(number)"))
            start.label = String(text.prefix(limits.labelBytes))
            start.metadata = ["a": text]
            return .start(start)
        }
        try keeper.turn(requests, at: scene.now)
        #expect(try scene.crashAndOpen(keeper).known.count == RetryingStore.mostInPart)
    }

    @Test("has what changes while it is written, whenever the daemon is killed", arguments: [0, 1, 3, 5, 7, 9])
    func steps(count: Int) throws {
        let known: [KeyedCountdown]
        do {
            let keeper = try scene.open()
            try keeper.turn((0..<400).map { try .start("\($0)") }, at: scene.now)
            (keeper.store as? LogStore)?.needsBase = true
            for number in 0..<count {
                keeper.step(lines: 50, at: scene.now)
                try keeper.turn(.cancel(Key("\(number * 40)")), .restart("\(399 - number)"), at: scene.now)
            }
            known = keeper.known
            try scene.crash()
        }
        #expect(try scene.open().known == known)
        #expect(scene.lines.all.isEmpty)
    }

    @Test("has no name before it is whole, and the files before it stay until then")
    func beforeName() throws {
        let keeper = try scene.open()
        try keeper.turn((0..<400).map { try .start("\($0)") }, at: scene.now)
        (keeper.store as? LogStore)?.needsBase = true
        while keeper.step(lines: 50, at: scene.now) {
            #expect(try scene.log.names.contains("0000000001.log"))
            #expect(try !scene.log.names.contains { $0.hasSuffix(".base") })
        }
        keeper.work(at: scene.now)
        keeper.stop()
        #expect(try scene.log.names == ["0000000002.base", "0000000002.log"])
    }

    @Test("drops the clocks of earlier boots, and deadlines stay over many of them")
    func boots() throws {
        let deadline = scene.now.wall + .seconds(100_000)
        do { try scene.open().turn(.start("tea", for: 100_000), at: scene.now) }
        for number in 0..<100 {
            scene.now = Now(boot: BootInstant(microseconds: 5_000_000), offset: scene.now.offset + .seconds(60))
            scene.bootID = "boot \(number)"
            let keeper = try scene.open()
            #expect(try keeper["tea"]?.phase.deadline(at: scene.now) == deadline)
            keeper.work(at: scene.now)
            keeper.stop()
            #expect(try #require(try scene.log.state).shifts.count <= 65)
        }
    }
}

extension Phase {
    /// When a countdown that runs ends by the system clock.
    fileprivate func deadline(at now: Now) -> WallInstant? {
        guard case .running(let deadline) = self else { return nil }
        return deadline.wall(at: now)
    }
}
