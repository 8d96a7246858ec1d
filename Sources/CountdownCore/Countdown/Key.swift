/// The name that a caller chose for a countdown: UTF-8, 1 to 255 bytes, no control characters.
///
/// Two keys are equal where their bytes are: no Unicode normalization is applied, so that a key is what was written.
public struct Key: Hashable, Sendable {
    /// What keeps a text from being a key.
    public enum Invalid: Error, Equatable {
        case empty
        case tooLong(bytes: Int)
        case controlCharacter(Unicode.Scalar)
    }

    /// As many as a file name may have.
    public static let maximumBytes = 255

    /// As the caller wrote it.
    public let text: String

    /// A key of that text, or what keeps it from being one.
    public init(_ text: String) throws(Invalid) {
        let count = text.utf8.count
        guard count > 0 else { throw .empty }
        guard count <= Self.maximumBytes else { throw .tooLong(bytes: count) }
        if !Self.isPlain(text) {
            for scalar in text.unicodeScalars where scalar.properties.generalCategory == .control {
                throw .controlCharacter(scalar)
            }
        }
        self.text = text
    }

    /// The key of a text that was a key before.
    init(trusted text: String) {
        self.text = text
    }

    /// Whether all characters are printable ASCII, as in most keys: then none has to be looked up.
    private static func isPlain(_ text: String) -> Bool {
        let bytes = text.utf8.span
        for index in bytes.indices where !(0x20...0x7e).contains(bytes[index]) { return false }
        return true
    }

    public static func == (left: Key, right: Key) -> Bool {
        let (a, b) = (left.text.utf8.span, right.text.utf8.span)
        guard a.count == b.count else { return false }
        for index in a.indices where a[index] != b[index] { return false }
        return true
    }

    public func hash(into hasher: inout Hasher) {
        unsafe text.utf8.span.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}
