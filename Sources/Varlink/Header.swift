/// A message that breaks the rules of Varlink (UAPI.20). There is no reply to it: the connection is to be closed.
public enum ProtocolViolation: Error, Equatable, Sendable {
    /// The message is not valid JSON, or not an object.
    case invalidJSON(JSONError)
    /// The message is longer than the receiver's limit, in bytes.
    case messageTooLong(limit: Int)
    /// A call without a method.
    case missingMethod
    /// A header field of the wrong type: method and error are strings, flags are booleans, parameters are an object.
    case invalidField(String)
    /// An unknown header field. Names with a dot belong to vendors and are ignored.
    case unknownField(String)
    /// More than one of `oneway`, `more` and `upgrade` in one call.
    case conflictingFlags
    /// A reply although no call waits for one.
    case unexpectedReply
    /// `continues` in a reply to a call without `more`, or in an error.
    case unexpectedContinues
}

extension ProtocolViolation: CustomStringConvertible {
    /// The rule, without any text of the message, which may be a key.
    public var description: String {
        switch self {
        case .invalidJSON(let error): "the message is not JSON at byte \(error.offset): \(error.reason)"
        case .messageTooLong(let limit): "the message has more than \(limit) bytes"
        case .missingMethod: "the call has no method"
        case .invalidField(let name): "\(name) has another type"
        case .unknownField: "the message has a field that is not known"
        case .conflictingFlags: "the call has two of oneway, more and upgrade"
        case .unexpectedReply: "the reply is to no call"
        case .unexpectedContinues: "the reply has continues, which the call does not allow"
        }
    }

    /// Whether the message may be JSON, and breaks one of the rules that are stricter than RFC 8259.
    var isExcess: Bool {
        guard case .invalidJSON(let error) = self else { return false }
        return error.reason == .loneSurrogate || error.reason == .tooDeep(limit: JSONReader.depthLimit)
    }
}

/// A field in the header of a message. If it occurs more than once, its last value counts; null is the same as absence.
struct HeaderField<Value> {
    private let name: StaticString
    private var value: Value?
    private var isInvalid = false

    /// A field of this name, not read yet.
    init(_ name: StaticString) { self.name = name }

    /// Reads the reader's current member if it has this name; false if it has another one.
    @inline(__always)
    mutating func read(_ reader: inout JSONReader, _ readValue: (inout JSONReader) -> Value?) -> Bool {
        guard reader.isNamed(name) else { return false }
        let isNull = reader.null()
        value = isNull ? nil : readValue(&reader)
        isInvalid = !isNull && value == nil
        return true
    }

    /// The value, nil if the field is absent or null.
    var optional: Value? {
        get throws(ProtocolViolation) {
            guard !isInvalid else { throw .invalidField(name.description) }
            return value
        }
    }
}

extension JSONReader {
    /// Reads a whole message. Unknown fields without a dot in their names are refused.
    @inline(__always)
    mutating func header(_ read: (inout JSONReader) -> Bool) throws(ProtocolViolation) {
        var unknown: String?
        if beginText() {
            while nextMember() {
                guard !read(&self) else { continue }
                if unknown == nil, !memberName.utf8.contains(ASCII.dot) { unknown = memberName }
                skip()
            }
        }
        if let error = finish() { throw .invalidJSON(error) }
        if let unknown { throw .unknownField(unknown) }
    }
}
