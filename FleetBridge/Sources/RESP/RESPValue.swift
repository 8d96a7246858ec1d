/// A value of RESP2, the protocol of Redis.
public enum RESPValue: Equatable, Sendable {
    /// A status, such as `OK`.
    case simple(String)
    /// The engine's words, beginning with a code in capitals.
    case error(String)
    /// An integer.
    case integer(Int64)
    /// A string of any bytes.
    case bulk([UInt8])
    /// An array of values of any kind.
    case array([RESPValue])
    /// No value: a string or an array of the length -1.
    case null

    /// The text of a status or a string; nil for other values, and for a string that is not UTF-8.
    public var text: String? {
        switch self {
        case .simple(let text): text
        case .bulk(let bytes): String(validating: bytes, as: UTF8.self)
        default: nil
        }
    }

    /// The bytes of a status or a string; nil for other values.
    public var bytes: [UInt8]? {
        switch self {
        case .simple(let text): Array(text.utf8)
        case .bulk(let bytes): bytes
        default: nil
        }
    }

    /// The elements of an array; nil for other values.
    public var elements: [RESPValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// An integer, or a string that is one in decimal.
    public var number: Int64? {
        if case .integer(let number) = self { return number }
        return bytes.flatMap { Int64(decimal: $0[...]) }
    }
}

extension Int64 {
    /// A number in decimal; nil if the bytes are something else, or the number does not fit.
    public init?(decimal text: ArraySlice<UInt8>) {
        self.init(String(decoding: text, as: UTF8.self))
    }
}

/// A command, which is an array of strings.
public struct RESPCommand: Sendable, ExpressibleByArrayLiteral {
    /// The name of the command, and its arguments.
    public let words: [String]

    /// A command of these words.
    public init(_ words: [String]) { self.words = words }

    /// A command of these words.
    public init(arrayLiteral words: String...) { self.words = words }

    /// Appends the command as the engine reads it.
    public func append(to bytes: inout [UInt8]) {
        Self.append("*", words.count, to: &bytes)
        for word in words {
            Self.append("$", word.utf8.count, to: &bytes)
            bytes.append(contentsOf: word.utf8)
            bytes.append(contentsOf: Self.lineEnd)
        }
    }

    private static let lineEnd: [UInt8] = [0x0D, 0x0A]

    private static func append(_ kind: Unicode.Scalar, _ count: Int, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: kind))
        bytes.append(contentsOf: String(count).utf8)
        bytes.append(contentsOf: lineEnd)
    }
}
