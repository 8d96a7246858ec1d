/// Why a text is not the JSON that a Varlink message may hold.
public struct JSONError: Error, Equatable {
    /// The rule that the text breaks.
    public enum Reason: Equatable, Sendable {
        /// The text ends inside a value.
        case unexpectedEnd
        /// The grammar of RFC 8259 does not allow this byte here.
        case unexpectedByte(UInt8)
        /// Something other than whitespace follows the value.
        case trailingBytes
        /// The value is well-formed, but not an object.
        case notAnObject
        /// A string contains a byte below 0x20 without an escape.
        case controlCharacter(UInt8)
        /// A backslash that does not begin one of the escapes of RFC 8259.
        case invalidEscape
        /// A `\u` escape names one half of a surrogate pair without the other.
        case loneSurrogate
        /// The bytes of a string are not UTF-8 as defined in RFC 3629.
        case invalidUTF8
        /// A number does not have the form that RFC 8259 defines.
        case invalidNumber
        /// Objects and arrays are nested deeper than the limit.
        case tooDeep(limit: Int)
    }

    /// The offset of the offending byte from the start of the text.
    public let offset: Int
    /// The rule that the text breaks at the offset.
    public let reason: Reason

    /// An error at an offset.
    public init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }
}
