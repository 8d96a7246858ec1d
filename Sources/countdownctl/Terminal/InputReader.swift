/// Input from a terminal.
enum TerminalInput: Equatable, Sendable {
    case key(TerminalKey)
    /// Text that was pasted between brackets, whatever it holds.
    case paste(String)
    /// A press of the first mouse button, by the row and column of the terminal from 0 on.
    case click(row: Int, column: Int)
    /// Whether the terminal has the keyboard now.
    case focus(Bool)
    /// The cursor's position, counted from 0, as the answer to a query.
    case cursor(row: Int, column: Int)
}

enum TerminalKey: Equatable, Sendable {
    case character(Character)
    /// A letter together with Ctrl.
    case control(Character)
    case enter
    case tab
    case escape
    case backspace
    case delete
    case left
    case right
    case up
    case down
    case home
    case end
}

/// Parses the bytes of a terminal: UTF-8, control sequences of ECMA-48 and of xterm.
struct InputReader {
    /// The most that is kept of a paste: its end, far more than anything here takes.
    static let pasteLimit = 64 << 10
    /// Longer sequences are dropped.
    private static let sequenceLimit = 64
    private static let escape: UInt8 = 0x1B
    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    private var pending: [UInt8] = []
    /// The text of an unfinished paste.
    private var pasted: [UInt8]?

    /// Whether a sequence is incomplete: if no byte follows for a moment, `flush` parses it without the rest.
    var isPartial: Bool { !pending.isEmpty && pasted == nil }

    /// The input in the bytes, together with pending bytes.
    mutating func read(_ bytes: some Sequence<UInt8>) -> [TerminalInput] {
        pending += bytes
        return parse(isComplete: false)
    }

    /// Parses the pending bytes as complete: a lone ESC is the key Escape.
    mutating func flush() -> [TerminalInput] { parse(isComplete: true) }

    private mutating func parse(isComplete: Bool) -> [TerminalInput] {
        var inputs: [TerminalInput] = []
        while !pending.isEmpty {
            if pasted != nil {
                guard let input = paste() else { break }
                inputs.append(input)
                continue
            }
            guard let (length, input) = next(isComplete: isComplete) else { break }
            pending.removeFirst(length)
            if let input { inputs.append(input) }
        }
        return inputs
    }

    /// The pasted text; nil if the paste has not ended.
    private mutating func paste() -> TerminalInput? {
        var text = pasted ?? []
        // The end may come in pieces, so the last bytes are looked at again.
        text += pending
        pending = []
        guard let end = text.firstRange(of: Self.pasteEnd) else {
            pasted = text.suffix(Self.pasteLimit)
            return nil
        }
        pending = Array(text[end.upperBound...])
        pasted = nil
        return .paste(String(decoding: text[..<end.lowerBound].suffix(Self.pasteLimit), as: UTF8.self))
    }

    private typealias Parsed = (length: Int, input: TerminalInput?)

    /// The first pending input; nil if it is incomplete.
    private mutating func next(isComplete: Bool) -> Parsed? {
        guard pending[0] == Self.escape else { return character(isComplete: isComplete) }
        guard pending.count > 1 else { return isComplete ? (1, .key(.escape)) : nil }
        switch pending[1] {
        case UInt8(ascii: "["): return controlSequence(isComplete: isComplete)
        case UInt8(ascii: "O"):
            guard pending.count > 2 else { return isComplete ? (2, nil) : nil }
            return (3, key(final: pending[2]).map { .key($0) })
        case Self.escape: return (1, .key(.escape))
        // Alt with a key: no key that anything is bound to.
        default: return (2, nil)
        }
    }

    private func character(isComplete: Bool) -> Parsed? {
        let first = pending[0]
        if let key = controlKey(first) { return (1, .key(key)) }
        if first < 0x20 { return (1, nil) }
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard pending.count >= length else { return isComplete ? (pending.count, nil) : nil }
        var decoder = UTF8()
        var bytes = pending[..<length].makeIterator()
        // A byte that belongs to no character is passed over alone.
        guard case .scalarValue(let scalar) = decoder.decode(&bytes) else { return (1, nil) }
        return (length, .key(.character(Character(scalar))))
    }

    private func controlKey(_ byte: UInt8) -> TerminalKey? {
        switch byte {
        case 0x0D, 0x0A: .enter
        case 0x09: .tab
        case 0x08, 0x7F: .backspace
        case 0x01: .home
        case 0x05: .end
        case 0x02...0x1A: .control(Character(Unicode.Scalar(byte + 0x60)))
        default: nil
        }
    }

    /// `ESC [ parameters final`.
    private mutating func controlSequence(isComplete: Bool) -> Parsed? {
        // The Linux console sends `ESC [ [ A` for its first function keys.
        if pending.count > 2, pending[2] == UInt8(ascii: "[") {
            return pending.count > 3 ? (4, nil) : isComplete ? (3, nil) : nil
        }
        let body = pending.dropFirst(2)
        guard let end = body.firstIndex(where: { !(0x20..<0x40 ~= $0) }) else {
            return isComplete || pending.count > Self.sequenceLimit ? (pending.count, nil) : nil
        }
        let sequence = ControlSequence(parameters: body[..<end], final: pending[end])
        if sequence.beginsPaste { pasted = [] }
        return (end + 1, 0x40..<0x7F ~= pending[end] ? sequence.input : nil)
    }
}

/// A control sequence of ECMA-48: the bytes between `ESC [` and the final byte.
struct ControlSequence {
    private let marker: UInt8?
    private let numbers: [Int]
    private let final: UInt8

    init(parameters: ArraySlice<UInt8>, final: UInt8) {
        var parameters = parameters
        marker = parameters.first.flatMap { 0x3C..<0x40 ~= $0 ? $0 : nil }
        if marker != nil { parameters.removeFirst() }
        numbers = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { digits in
            // No terminal has more rows or columns, and no sum overflows.
            Int(UInt16(String(decoding: digits, as: UTF8.self)) ?? 0)
        }
        self.final = final
    }

    /// Its input; nil if it is unknown.
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

    private var keyWithNumber: TerminalKey? {
        switch numbers.first {
        case 1, 7: .home
        case 3: .delete
        case 4, 8: .end
        default: nil
        }
    }
}

/// The key of a sequence that ends so, behind `ESC [` or `ESC O`.
func key(final: UInt8) -> TerminalKey? {
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
