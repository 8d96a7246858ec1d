import CountdownCore
import Testing

@testable import countdownd

@Suite("The lull after a turn")
struct LullTests {
    private var lull = Lull()

    private func instant(_ microseconds: Int64) -> Now {
        Now(boot: BootInstant(microseconds: 1_000_000 + microseconds), offset: .zero)
    }

    @Test("nothing is waited for after the first call, and after a turn without one")
    mutating func first() {
        lull.begin(at: instant(0), calls: 0, next: nil)
        #expect(lull.patience == .none)
        lull.begin(at: instant(10), calls: 1, next: nil)
        #expect(lull.patience == .none)
        lull.begin(at: instant(20), calls: 1, next: nil)
        lull.begin(at: instant(30), calls: 0, next: nil)
        #expect(lull.patience == .none)
    }

    @Test(
        "the closer calls come together, the more is done not to sleep between them",
        arguments: [(Int64(150), Lull.Patience.spinning), (151, .waiting), (1_000, .waiting), (1_001, .none)]
    )
    mutating func dense(pause: Int64, patience: Lull.Patience) {
        lull.begin(at: instant(0), calls: 1, next: nil)
        lull.begin(at: instant(pause), calls: 3, next: nil)
        #expect(lull.patience == patience)
    }

    @Test(
        "nothing is waited for while the alarm may ring",
        arguments: [(Int64(0), false), (3_000, false), (3_001, true)]
    )
    mutating func alarm(distance: Int64, isFree: Bool) {
        let now = instant(100)
        lull.begin(at: instant(0), calls: 1, next: nil)
        lull.begin(at: now, calls: 1, next: now.wall + TimeSpan(microseconds: distance))
        #expect(lull.patience == (isFree ? .spinning : .none))
    }
}
