import NIOCore

/// A value of RESP2, the protocol of Redis.
enum RESPValue: Equatable, Sendable {
    /// A status, such as `OK`.
    case simple(String)
    /// The engine's words, beginning with a code in capitals.
    case error(String)
    case integer(Int64)
    case bulk(String)
    case array([RESPValue])
    case null

    /// The text of a status or a string; nil for other values.
    var text: String? {
        switch self {
        case .simple(let text), .bulk(let text): text
        default: nil
        }
    }

    /// The elements of an array; nil for other values.
    var elements: [RESPValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// An integer, or a string that is one in decimal.
    var number: Int64? {
        if case .integer(let number) = self { return number }
        return text.flatMap { Int64($0) }
    }
}

/// Why bytes are not RESP2, or more of it than is accepted.
enum RESPError: Error, Equatable {
    /// No value begins with this byte.
    case unexpectedByte(UInt8)
    /// A length or an integer is not a number in its range, or a line end is missing.
    case malformed
    case lineTooLong(limit: Int)
    case bulkTooLong(limit: Int)
    case tooManyElements(limit: Int)
    case tooDeep(limit: Int)
    case valueTooLong(limit: Int)
}

/// Reads RESP2 from the pieces of a stream. Each byte is looked at once, however the stream is cut.
struct RESPReader: Sendable {
    /// The greatest sizes that are accepted, so that no engine can make the bridge grow without bound.
    struct Limits: Sendable {
        /// The bytes of a status, an error, an integer or a length.
        var line = 64 << 10
        /// The bytes of a string: a message has 64 records of 64 KiB.
        var bulk = 8 << 20
        /// The elements of one array.
        var elements = 1 << 20
        /// Arrays in arrays.
        var depth = 8
        /// The bytes of a whole value, with 64 for each element: 1,000 changes of the log have 64 KiB each.
        var value = 128 << 20
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

    private let limits: Limits
    private var buffer = ByteBuffer()
    private var open: [OpenArray] = []
    /// How many of the unread bytes were searched for the end of the line.
    private var searched = 0
    /// The length of the string whose bytes are next; nil if a line is next.
    private var bulkLength: Int?
    /// The bytes of the value that is being read.
    private var size = 0

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Takes bytes of the stream.
    mutating func receive(_ bytes: ByteBuffer) {
        var bytes = bytes
        if buffer.readableBytes == 0 {
            buffer = bytes
        } else {
            buffer.discardReadBytes()
            buffer.writeBuffer(&bytes)
        }
    }

    /// The next value; nil if more bytes are needed.
    ///
    /// - Throws: if the stream is not RESP2; it is of no use from then on.
    mutating func next() throws(RESPError) -> RESPValue? {
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

    /// The next line or string; nil if more bytes are needed.
    private mutating func nextPart() throws(RESPError) -> Part? {
        if let length = bulkLength { return try readBulk(length) }
        guard let line = try readLine() else { return nil }
        let rest = line.dropFirst()
        switch line.first {
        case UInt8(ascii: "+"): return .value(.simple(String(decoding: rest, as: UTF8.self)))
        case UInt8(ascii: "-"): return .value(.error(String(decoding: rest, as: UTF8.self)))
        case UInt8(ascii: ":"):
            guard let number = Self.integer(rest) else { throw .malformed }
            return .value(.integer(number))
        case UInt8(ascii: "$"):
            guard let length = try Self.length(rest) else { return .value(.null) }
            guard length <= limits.bulk else { throw .bulkTooLong(limit: limits.bulk) }
            bulkLength = length
            return try readBulk(length)
        case UInt8(ascii: "*"):
            guard let count = try Self.length(rest) else { return .value(.null) }
            guard count <= limits.elements else { throw .tooManyElements(limit: limits.elements) }
            guard count > 0 else { return .value(.array([])) }
            guard open.count < limits.depth else { throw .tooDeep(limit: limits.depth) }
            return .opening(count)
        case let byte: throw .unexpectedByte(byte ?? UInt8(ascii: "\r"))
        }
    }

    private mutating func readBulk(_ length: Int) throws(RESPError) -> Part? {
        guard buffer.readableBytes >= length + 2 else { return nil }
        try grow(by: length)
        guard let bytes = buffer.readSlice(length: length), buffer.readInteger(as: UInt16.self) == 0x0D0A else {
            throw .malformed
        }
        bulkLength = nil
        return .value(.bulk(String(buffer: bytes)))
    }

    /// The next line without its end; nil if it is not complete.
    private mutating func readLine() throws(RESPError) -> ArraySlice<UInt8>? {
        let view = buffer.readableBytesView
        let start = view.startIndex
        guard let end = view[(start + searched)...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = view.count
            // A stream of another protocol is noticed at its first byte.
            if let first = view.first, !"+-:$*".utf8.contains(first) { throw .unexpectedByte(first) }
            guard searched <= limits.line else { throw .lineTooLong(limit: limits.line) }
            return nil
        }
        searched = 0
        let length = end - start
        guard length <= limits.line else { throw .lineTooLong(limit: limits.line) }
        try grow(by: length + 64)
        guard let line = buffer.readBytes(length: length + 1), length > 0, line[length - 1] == UInt8(ascii: "\r") else {
            throw .malformed
        }
        return line[..<(length - 1)]
    }

    private mutating func grow(by bytes: Int) throws(RESPError) {
        size += bytes
        guard size <= limits.value else { throw .valueTooLong(limit: limits.value) }
    }

    /// The length of a string or an array; nil if it is -1, which stands for no value.
    private static func length(_ digits: ArraySlice<UInt8>) throws(RESPError) -> Int? {
        guard let number = integer(digits), number >= -1, let length = Int(exactly: number) else { throw .malformed }
        return length == -1 ? nil : length
    }

    private static func integer(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard digits.count <= 20 else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }
}

/// A command, which is an array of strings.
struct RESPCommand: Sendable, ExpressibleByArrayLiteral {
    let words: [String]

    init(_ words: [String]) { self.words = words }

    init(arrayLiteral words: String...) { self.words = words }

    /// Writes the command as the engine reads it.
    func write(into buffer: inout ByteBuffer) {
        buffer.writeString("*\(words.count)\r\n")
        for word in words {
            buffer.writeString("$\(word.utf8.count)\r\n")
            buffer.writeString(word)
            buffer.writeStaticString("\r\n")
        }
    }
}
