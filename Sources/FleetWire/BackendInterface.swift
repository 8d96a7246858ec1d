public import Varlink

extension BackendInterface {
    /// The greatest number of proposals in a call.
    public static let proposalsLimit = 64
    /// The greatest length of a record in bytes.
    public static let recordLimit = 64 << 10
    /// The longest call and the longest reply in bytes: 64 records, in which every byte may need an escape.
    public static let messageLimit = 16 << 20

    /// Whether a text can be the key of a countdown. A bridge reports no record with another key. Changes are published in
    /// lines, so a key has no line end.
    public static func isKey(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            // Unicode never changes which scalars are controls.
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}

extension EngineOffset {
    /// An error is never negative.
    func check() throws(InvalidParameter) { try InvalidParameter.check("errorUSec", errorUSec >= 0) }
}

extension Describe.Reply {
    /// Numbers are never negative.
    func check() throws(InvalidParameter) {
        try InvalidParameter.check("shards", shards >= 0)
        try InvalidParameter.check("retentionUSec", retentionUSec >= 0)
        try InvalidParameter.check("marginUSec", marginUSec >= 0)
        try InvalidParameter.check("countdowns", countdowns >= 0)
        try InvalidParameter.check("acknowledgements", acknowledgements >= 0)
    }
}

extension InvalidParameter {
    /// Throws the name of a member if a rule about it is broken.
    static func check(_ member: String, _ isValid: Bool) throws(InvalidParameter) {
        guard isValid else { throw InvalidParameter(member) }
    }
}

/// The text of a record, which is a JSON object to the daemons, and a string to the bridge and the engine.
public struct RecordText: Sendable, Hashable, JSONReadable, JSONWritable {
    /// The text in UTF-8.
    public var utf8: [UInt8]

    /// A text in UTF-8.
    public init(utf8: [UInt8]) {
        self.utf8 = utf8
    }

    /// Whether a proposal may have it: a JSON object within the limit, without control characters, so without line ends.
    public var isObject: Bool {
        guard utf8.count <= BackendInterface.recordLimit, utf8.allSatisfy({ $0 >= 0x20 }) else { return false }
        return JSONReader.read(copying: utf8) { reader in
            guard reader.beginText() else { return false }
            reader.knownMembers { _ in false }
            return reader.finish() == nil
        }
    }

    /// Writes the text as a string.
    public func write(into writer: inout JSONWriter) { writer.write(utf8: utf8.span) }

    /// Reads a string, whatever its text is; nil if the value is of another kind.
    public static func read(from reader: inout JSONReader) -> RecordText? { reader.utf8().map(RecordText.init(utf8:)) }
}
