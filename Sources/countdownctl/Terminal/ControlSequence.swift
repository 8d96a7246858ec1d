/// A control sequence of ECMA-48 that a terminal sent: what stands between `ESC [` and the byte that ends it.
struct ControlSequence {
    private let marker: UInt8?
    private let numbers: [Int]
    private let final: UInt8

    init(parameters: ArraySlice<UInt8>, final: UInt8) {
        var parameters = parameters
        marker = parameters.first.flatMap { 0x3C..<0x40 ~= $0 ? $0 : nil }
        if marker != nil { parameters.removeFirst() }
        numbers = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { digits in
            Int(String(decoding: digits, as: UTF8.self)) ?? 0
        }
        self.final = final
    }

    /// What it says by itself; nil for one that nobody asked for.
    var input: TerminalInput? {
        switch (marker, final) {
        case (UInt8(ascii: "<"), UInt8(ascii: "M")): click
        case (nil, UInt8(ascii: "R")) where numbers.count == 2:
            .cursor(row: numbers[0] - 1, column: numbers[1] - 1)
        case (nil, UInt8(ascii: "I")): .focus(true)
        case (nil, UInt8(ascii: "O")): .focus(false)
        case (nil, UInt8(ascii: "~")): keyWithNumber.map { .key($0) }
        case (nil, _): key(final: final).map { .key($0) }
        default: nil
        }
    }

    /// Whether pasted text follows.
    var beginsPaste: Bool { marker == nil && final == UInt8(ascii: "~") && numbers.first == 200 }

    /// The first button alone: the second and third are 1 and 2, 32 is for movements, 64 for the wheel. Keys that are
    /// held meanwhile, 4 to 16, do not matter.
    private var click: TerminalInput? {
        guard numbers.count == 3, numbers[0] & ~0b11100 == 0 else { return nil }
        return .click(row: numbers[2] - 1, column: numbers[1] - 1)
    }

    private var keyWithNumber: Key? {
        switch numbers.first {
        case 1, 7: .home
        case 3: .delete
        case 4, 8: .end
        default: nil
        }
    }
}

/// The key of a sequence that ends so, behind `ESC [` or `ESC O`.
func key(final: UInt8) -> Key? {
    switch final {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    case UInt8(ascii: "H"): .home
    case UInt8(ascii: "F"): .end
    // Enter on the keypad, in its application mode.
    case UInt8(ascii: "M"): .enter
    default: nil
    }
}
