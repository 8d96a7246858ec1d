import CountdownCore
import TestSupport
import Testing

@testable import countdownd

/// Daemons that stop, crash and start again on a machine whose system clock is set to any time that a kernel can have.
/// If everything is as before after a restart, every countdown ends when it should: that does not depend on the store.
@Suite("The range of what is stored")
struct StoredRangeTests {
    /// From 1970, through June 2255, when instants reach 2^53 µs, to the last instant of the kernel.
    private static let instants: [Int64] = [0, 1_750_000_000_000_000, 1 << 53 - 60_000_000, 1 << 53, .max / 1_000]
    private static let texts = ["", "tea", "a\nb", "\0", "\u{1b}[2J", "\"\\/", "🍵", "e\u{301}", "\u{2028}\u{fffe}"]

    private let scene: StoreScene

    init() throws { scene = try StoreScene() }

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

    /// A countdown whose deadline is by the system clock, as that goes on over a reboot.
    private func overReboot(_ countdown: KeyedCountdown, at now: Now) -> KeyedCountdown {
        guard case .running(let deadline) = countdown.phase else { return countdown }
        return KeyedCountdown(
            key: countdown.key,
            phase: .running(until: .wall(deadline.wall(at: now))),
            clock: countdown.clock,
            duration: countdown.duration,
            started: countdown.started,
            label: countdown.label,
            metadata: countdown.metadata,
            forget: countdown.forget,
            revision: countdown.revision
        )
    }

    /// Applies changes that are told and never stored, as while the store fails, and returns their revisions.
    private func tellUnstored(_ count: Int, by keeper: Keeper) throws -> [Revision] {
        try (0..<count).compactMap { number in
            let request = try Request.start("unstored \(number)")
            // Nothing can be started in 2262.
            guard case .change(let change) = try? keeper.timetable.decide(request, at: scene.now) else { return nil }
            keeper.timetable.apply(change)
            return change.countdown.revision
        }
    }

    @Test(
        "in any order of events everything is read as it was written, whatever the clock was set to, and no revision repeats",
        arguments: 1...20 as ClosedRange<UInt64>
    )
    func anyClock(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var written: [KeyedCountdown] = []
        var (given, lost): (Set<Revision>, [Revision]) = ([], [])
        /// The clocks as the last daemon knew them.
        var known = scene.now
        for boot in 1...8 {
            let isReboot = boot == 1 || Bool.random(using: &random)
            scene.pass(.seconds(.random(in: 0...600, using: &random)))
            if isReboot {
                scene.bootID = "boot \(boot)"
                scene.now = Now(boot: BootInstant(microseconds: 1_000_000), offset: scene.now.offset)
            }
            if Bool.random(using: &random) { try setClock(&random) }
            let wasSet = scene.now.offset != known.offset
            let keeper = try scene.open()
            if isReboot {
                #expect(
                    keeper.known.map { overReboot($0, at: scene.now) } == written.map { overReboot($0, at: known) }
                )
            } else {
                #expect(keeper.known == written)
                if wasSet { #expect(keeper.stepRevision == keeper.timetable.revision) }
            }
            #expect(keeper.offset == (isReboot || wasSet ? nil : known.offset))
            #expect(given.allSatisfy { $0 <= keeper.timetable.revision })
            #expect(!lost.contains(where: keeper.canResume(after:)))
            #expect(scene.lines.all == [])
            #expect(Revision(stored: keeper.timetable.revision.number + 1_000_000_000) != nil)
            known = scene.now
            for _ in 0..<12 {
                if Bool.random(using: &random) { try setClock(&random) }
                let step = ClockStep(offset: scene.now.offset, revision: keeper.timetable.revision)
                let wasSet = scene.now.offset != known.offset
                var changes = try keeper.turn([], clockStep: wasSet ? step : nil, at: scene.now)
                changes += (try? keeper.turn(request(&random), at: scene.now)) ?? []
                for change in changes { #expect(given.insert(change.countdown.revision).inserted) }
                known = scene.now
            }
            written = keeper.known
            switch Int.random(in: 0..<3, using: &random) {
            case 0: keeper.stop()
            case 1:
                let told = try tellUnstored(.random(in: 0...5, using: &random), by: keeper)
                for revision in told { #expect(given.insert(revision).inserted) }
                lost += told
                try scene.crash()
            default: break
            }
        }
    }
}
