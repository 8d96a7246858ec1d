/// Why bytes are not RESP2, or more of it than is accepted.
public enum RESPError: Error, Equatable {
    /// No value begins with this byte.
    case unexpectedByte(UInt8)
    /// A length or an integer is not a number in its range, or a line end is missing.
    case malformed
    /// A status, an error, an integer or a length has more bytes than the limit.
    case lineTooLong(limit: Int)
    /// A string has more bytes than the limit.
    case bulkTooLong(limit: Int)
    /// An array has more elements than the limit.
    case tooManyElements(limit: Int)
    /// More arrays than the limit are in each other.
    case tooDeep(limit: Int)
    /// A value has more bytes than the limit, with 64 for each element.
    case valueTooLong(limit: Int)
}

/// Reads RESP2 from the pieces of a stream. Each byte is looked at once, however the stream is cut, and the
/// reader keeps the bytes of one line or one string at most.
public struct RESPReader: Sendable {
    /// The greatest sizes that are accepted, so that no engine can make the reader grow without bound.
    public struct Limits: Sendable {
        /// The bytes of a status, an error, an integer or a length.
        public var line = 64 << 10
        /// The bytes of a string: a message has 64 records of 64 KiB.
        public var bulk = 8 << 20
        /// The elements of one array.
        public var elements = 1 << 20
        /// Arrays in arrays.
        public var depth = 8
        /// The bytes of a whole value, with 64 for each element: 1,024 changes of the log have 64 KiB each.
        public var value = 128 << 20

        /// The limits for records of countdowns.
        public init() {}
    }

    private enum Part {
        /// The beginning of an array with this number of elements, at least one.
        case opening(Int)
        case value(RESPValue)
    }

    /// An array whose last elements were not read yet.
    private struct OpenArray {
        var missing: Int
        var elements: [RESPValue] = []
    }

    /// Memory for received bytes above this size is freed when all of them were read.
    private static let keptCapacity = 1 << 20
    /// The size of an element beside its bytes.
    private static let elementSize = 64

    private let limits: Limits
    private var bytes: [UInt8] = []
    /// The offset of the first byte that was not read.
    private var position = 0
    private var open: [OpenArray] = []
    /// How many of the unread bytes were searched for the end of the line.
    private var searched = 0
    /// The length of the string that is next; nil if a line is next.
    private var bulkLength: Int?
    /// The size of the value that is being read.
    private var size = 0

    /// A reader of a new stream.
    public init(limits: Limits = Limits()) { self.limits = limits }

    /// The number of received bytes that were not read yet.
    public var pending: Int { bytes.count - position }

    /// Takes bytes of the stream.
    public mutating func receive(_ received: Span<UInt8>) {
        if position == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
        } else {
            bytes.removeFirst(position)
        }
        position = 0
        unsafe received.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    /// The next value; nil if more bytes are needed.
    ///
    /// - Throws: if the stream is not RESP2; it is of no use from then on.
    public mutating func next() throws(RESPError) -> RESPValue? {
        while let part = try nextPart() {
            switch part {
            case .opening(let count): open.append(OpenArray(missing: count))
            case .value(let value): if let whole = add(value) { return whole }
            }
        }
        return nil
    }

    /// Adds a value to the innermost open array, and closes the arrays that it completes.
    ///
    /// - Returns: the value that no array is open around; nil if elements are missing.
    private mutating func add(_ value: RESPValue) -> RESPValue? {
        var value = value
        while let last = open.indices.last {
            open[last].elements.append(value)
            open[last].missing -= 1
            guard open[last].missing == 0 else { return nil }
            value = .array(open.removeLast().elements)
        }
        size = 0
        return value
    }

    // MARK: Lines and strings

    /// The next line or string; nil if more bytes are needed.
    private mutating func nextPart() throws(RESPError) -> Part? {
        if let length = bulkLength { return try readBulk(length) }
        guard let line = try readLine() else { return nil }
        let rest = bytes[line].dropFirst()
        switch bytes[line.lowerBound] {
        case UInt8(ascii: "+"): return .value(.simple(String(decoding: rest, as: UTF8.self)))
        case UInt8(ascii: "-"): return .value(.error(String(decoding: rest, as: UTF8.self)))
        case UInt8(ascii: ":"): return .value(.integer(try Self.integer(rest)))
        case UInt8(ascii: "$"): return try beginBulk(try Self.length(rest))
        default: return try beginArray(try Self.length(rest))
        }
    }

    private mutating func beginBulk(_ length: Int?) throws(RESPError) -> Part? {
        guard let length else { return .value(.null) }
        guard length <= limits.bulk else { throw .bulkTooLong(limit: limits.bulk) }
        try grow(by: length)
        bulkLength = length
        return try readBulk(length)
    }

    private func beginArray(_ count: Int?) throws(RESPError) -> Part? {
        guard let count else { return .value(.null) }
        guard count <= limits.elements else { throw .tooManyElements(limit: limits.elements) }
        guard count > 0 else { return .value(.array([])) }
        guard open.count < limits.depth else { throw .tooDeep(limit: limits.depth) }
        return .opening(count)
    }

    private mutating func readBulk(_ length: Int) throws(RESPError) -> Part? {
        guard pending >= length + 2 else { return nil }
        let end = position + length
        guard bytes[end] == UInt8(ascii: "\r"), bytes[end + 1] == UInt8(ascii: "\n") else { throw .malformed }
        let value = Array(bytes[position..<end])
        position = end + 2
        bulkLength = nil
        return .value(.bulk(value))
    }

    /// The place of the next line without its end; nil if it is not complete.
    private mutating func readLine() throws(RESPError) -> Range<Int>? {
        guard position < bytes.count else { return nil }
        // A stream of another protocol is noticed at its first byte.
        let kind = bytes[position]
        switch kind {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "$"), UInt8(ascii: "*"): break
        default: throw .unexpectedByte(kind)
        }
        guard let newline = bytes[(position + searched)...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = pending
            guard searched <= limits.line else { throw .lineTooLong(limit: limits.line) }
            return nil
        }
        searched = 0
        let length = newline - position
        guard length <= limits.line else { throw .lineTooLong(limit: limits.line) }
        try grow(by: length + Self.elementSize)
        let line = position..<newline - 1
        guard bytes[newline - 1] == UInt8(ascii: "\r") else { throw .malformed }
        position = newline + 1
        return line
    }

    private mutating func grow(by bytes: Int) throws(RESPError) {
        size += bytes
        guard size <= limits.value else { throw .valueTooLong(limit: limits.value) }
    }

    // MARK: Numbers

    /// The length of a string or an array; nil if it is -1, which stands for no value.
    private static func length(_ digits: ArraySlice<UInt8>) throws(RESPError) -> Int? {
        let number = try integer(digits)
        guard number >= -1, let length = Int(exactly: number) else { throw .malformed }
        return length == -1 ? nil : length
    }

    private static func integer(_ text: ArraySlice<UInt8>) throws(RESPError) -> Int64 {
        guard let number = Int64(decimal: text) else { throw .malformed }
        return number
    }
}
