/// Why a text is not the JSON that a Varlink message may hold.
public struct JSONFailure: Error, Equatable {
    /// What is wrong at the offset.
    public enum Reason: Equatable, Sendable {
        /// The text ends inside a value.
        case unexpectedEnd
        /// A byte stands where the grammar of RFC 8259 allows none like it.
        case unexpectedByte(UInt8)
        /// Something other than whitespace follows the value.
        case trailingBytes
        /// The value is well-formed as far as it was read, but no object.
        case notAnObject
        /// A byte below 0x20 stands unescaped in a string.
        case controlCharacter(UInt8)
        /// A backslash is followed by none of the escapes of RFC 8259.
        case invalidEscape
        /// A `\u` escape names one half of a surrogate pair without the other.
        case loneSurrogate
        /// The bytes of a string are not UTF-8 as RFC 3629 has it.
        case invalidUTF8
        /// A number is not of the form of RFC 8259.
        case invalidNumber
        /// Objects and arrays are nested deeper than the limit.
        case tooDeep(limit: Int)
        /// The text is longer than offsets of 32 bits reach.
        case tooLong
    }

    /// The index of the offending byte, counted from the start of the text.
    public let offset: Int
    /// What is wrong there.
    public let reason: Reason

    /// A failure at an offset.
    public init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }
}
