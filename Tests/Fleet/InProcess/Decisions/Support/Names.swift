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
