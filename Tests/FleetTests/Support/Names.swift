import CountdownCore
import Fleet

/// A key that is valid.
func key(_ text: String) -> Key {
    guard let key = try? Key(text) else { preconditionFailure("\(text) is no key") }
    return key
}

extension Duration {
    static func microseconds(_ microseconds: Int64) -> Duration { Duration(microseconds: microseconds) }
}

/// The engine's time in the tests; both clocks of a host are this one.
func engineTime(_ instant: WallInstant) -> Now {
    Now(boot: BootInstant(microseconds: instant.microseconds), offset: .zero)
}

/// 2025-10-09T08:53:20Z.
let noon = WallInstant(microseconds: 1_760_000_000_000_000)

/// Random numbers that depend only on the seed, so that a failure can be repeated.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
