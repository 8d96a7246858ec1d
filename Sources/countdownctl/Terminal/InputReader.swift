/// Makes keys of the bytes that a terminal sends: UTF-8, the control sequences of ECMA-48 and those of xterm.
struct InputReader {
    /// The most that is kept of a paste: its end, far more than anything here takes.
    static let pasteLimit = 64 << 10
    /// A sequence that is longer than this is none.
    private static let sequenceLimit = 64
    private static let escape: UInt8 = 0x1B
    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    private var pending: [UInt8] = []
    /// What has been pasted, while a paste goes on.
    private var pasted: [UInt8]?

    /// Whether a sequence has begun that may go on: where nothing follows for a moment, `flush` makes of it what it is
    /// by itself.
    var isPartial: Bool { !pending.isEmpty && pasted == nil }

    /// What the bytes mean, together with those before.
    mutating func read(_ bytes: some Sequence<UInt8>) -> [TerminalInput] {
        pending += bytes
        return take(isComplete: false)
    }

    /// What is left means by itself, as nothing follows: a lone escape is the key of that name.
    mutating func flush() -> [TerminalInput] { take(isComplete: true) }

    private mutating func take(isComplete: Bool) -> [TerminalInput] {
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

    /// The rest of a paste; nil where it has not ended.
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

    private typealias Read = (length: Int, input: TerminalInput?)

    /// The first thing that is pending; nil where it is not whole.
    private mutating func next(isComplete: Bool) -> Read? {
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

    private func character(isComplete: Bool) -> Read? {
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

    private func controlKey(_ byte: UInt8) -> Key? {
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
    private mutating func controlSequence(isComplete: Bool) -> Read? {
        // The Linux console sends `ESC [ [ A` for its first function keys.
        if pending.count > 2, pending[2] == UInt8(ascii: "[") { return pending.count > 3 ? (4, nil) : nil }
        let body = pending.dropFirst(2)
        guard let end = body.firstIndex(where: { !(0x20..<0x40 ~= $0) }) else {
            return isComplete || pending.count > Self.sequenceLimit ? (pending.count, nil) : nil
        }
        let sequence = ControlSequence(parameters: body[..<end], final: pending[end])
        if sequence.beginsPaste { pasted = [] }
        return (end + 1, 0x40..<0x7F ~= pending[end] ? sequence.input : nil)
    }
}
