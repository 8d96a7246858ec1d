/// SipHash-1-3 of whole words, as the standard library's `Hasher` has it, which takes three times as long for a key: it
/// takes bytes of any number, in any portions, by calls that are not inlined.
struct SipHash {
    /// Others in each process: so that nobody can choose keys that fall together.
    static let seed = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))

    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    private var length: UInt64 = 0

    @inline(__always)
    init(seed: (UInt64, UInt64)) {
        v0 = seed.0 ^ 0x736F_6D65_7073_6575
        v1 = seed.1 ^ 0x646F_7261_6E64_6F6D
        v2 = seed.0 ^ 0x6C79_6765_6E65_7261
        v3 = seed.1 ^ 0x7465_6462_7974_6573
    }

    /// Takes eight bytes, the first in the lowest byte.
    @inline(__always)
    mutating func take(_ word: UInt64) {
        length &+= 8
        compress(word)
    }

    /// The hash of all that was taken.
    @inline(__always)
    consuming func finish() -> UInt64 {
        compress(length << 56)
        v2 ^= 0xFF
        for _ in 0..<3 { mix() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    @inline(__always)
    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        mix()
        v0 ^= word
    }

    @inline(__always)
    private mutating func mix() {
        v0 &+= v1
        v1 = Self.rotate(v1, 13) ^ v0
        v0 = Self.rotate(v0, 32)
        v2 &+= v3
        v3 = Self.rotate(v3, 16) ^ v2
        v0 &+= v3
        v3 = Self.rotate(v3, 21) ^ v0
        v2 &+= v1
        v1 = Self.rotate(v1, 17) ^ v2
        v2 = Self.rotate(v2, 32)
    }

    @inline(__always)
    private static func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 &- count) }
}
