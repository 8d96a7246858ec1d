import CountdownCore
import TestSupport
import Testing

@testable import countdownd

/// Daemons on a machine whose system clock is set to any time that a kernel can have.
@Suite("The range of what is stored")
struct StoredRangeTests {
    /// From 1970, through June 2255, when instants reach 2^53 µs, to the last instant of the kernel.
    private static let instants: [Int64] = [0, 1_750_000_000_000_000, 1 << 53 - 60_000_000, 1 << 53, .max / 1_000]
    private static let texts = ["", "tea", "a\nb", "\0", "\u{1b}[2J", "\"\\/", "🍵", "e\u{301}", "\u{2028}\u{fffe}"]

    private let scene: StoreScene

    init() throws { scene = try StoreScene(inMemory: true) }

    private func setClock(_ random: inout SeededGenerator) throws {
        let boot = scene.now.boot + Duration(microseconds: .random(in: 0...1 << 44, using: &random))
        let about = try #require(Self.instants.randomElement(using: &random))
        let wall = max(0, about - .random(in: 0...120_000_000, using: &random))
        scene.now = Now(boot: boot, offset: Duration(microseconds: wall - boot.microseconds))
    }

    private func request(_ random: inout SeededGenerator) throws -> Request {
        let key = try Key(
            ["tea", "egg", "a key that is longer than most", "🍵\"\\"].randomElement(using: &random) ?? ""
        )
        let longest = Int64(1) << Int64.random(in: 1...51, using: &random)
        let span = Duration(microseconds: .random(in: 1...longest, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .cancel(key)
        case 1: return .finish(key)
        case 2: return .pause(key)
        case 3: return .resume(key)
        case 4: return .adjust(key, .by(Bool.random(using: &random) ? span : .zero - span))
        default:
            let isElapsed = Bool.random(using: &random)
            let start = Request.Start(
                key,
                isElapsed ? .after(span) : .at(scene.now.wall + span),
                ifLive: isElapsed ? [.restart, .extend, .attach].randomElement(using: &random) ?? .attach : .restart,
                label: Self.texts.randomElement(using: &random),
                metadata: [
                    Self.texts.randomElement(using: &random) ?? "": Self.texts.randomElement(using: &random) ?? ""
                ],
                forget: Bool.random(using: &random)
            )
            return .start(start)
        }
    }

    /// A countdown as the test expects it.
    private struct Known: Equatable {
        let deadline: WallInstant?
        let countdown: KeyedCountdown
    }

    /// All that is known. Deadlines are by the system clock, which goes on over a reboot.
    private func known(_ keeper: Keeper) -> [Known] {
        keeper.known.map { countdown in
            guard case .running(let deadline) = countdown.phase else {
                return Known(deadline: nil, countdown: countdown)
            }
            let rest = KeyedCountdown(
                key: countdown.key,
                phase: .paused(remaining: .zero),
                clock: countdown.clock,
                duration: countdown.duration,
                started: countdown.started,
                label: countdown.label,
                metadata: countdown.metadata,
                forget: countdown.forget,
                revision: countdown.revision
            )
            return Known(deadline: deadline.wall(at: scene.now), countdown: rest)
        }
    }

    @Test(
        "whatever the clock was set to, everything is read as it was written",
        arguments: 1...20 as ClosedRange<UInt64>
    )
    func anyClock(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var written: [Known] = []
        for boot in 1...8 {
            if Bool.random(using: &random) {
                scene.bootID = "boot \(boot)"
                scene.now = Now(boot: BootInstant(microseconds: 1_000_000), offset: scene.now.offset)
                try setClock(&random)
            }
            let keeper = try scene.open()
            #expect(known(keeper) == written)
            #expect(scene.lines.all == [])
            for _ in 0..<12 {
                let offset = scene.now.offset
                if Bool.random(using: &random) { try setClock(&random) }
                let revision = keeper.timetable.revision
                let step = ClockStep(offset: scene.now.offset, revision: revision)
                try keeper.turn([], clockStep: scene.now.offset == offset ? nil : step, at: scene.now)
                _ = try? keeper.turn(request(&random), at: scene.now)
            }
            written = known(keeper)
            if Bool.random(using: &random) { keeper.stop() }
        }
    }
}
