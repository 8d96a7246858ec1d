/// A JSON value of any kind as its text, without whitespace around its parts: the type `any` of a definition.
public struct AnyJSON: Sendable, Hashable, JSONReadable, JSONWritable {
    /// The text in UTF-8.
    public let utf8: [UInt8]

    /// The text of a value.
    public init(_ value: some JSONWritable) {
        var writer = JSONWriter()
        writer.element(value)
        utf8 = writer.bytes
    }

    /// A valid text.
    fileprivate init(compacting text: [UInt8]) {
        var utf8: [UInt8] = []
        var (isInString, isEscaped) = (false, false)
        for byte in text where isInString || !ASCII.isWhitespace(byte) {
            utf8.append(byte)
            if byte == ASCII.quote, !isEscaped { isInString.toggle() }
            isEscaped = byte == ASCII.backslash && !isEscaped
        }
        self.utf8 = utf8
    }

    /// Reads the next value, of whatever kind it is.
    public static func read(from reader: inout JSONReader) -> AnyJSON? { AnyJSON(compacting: reader.rawValue()) }

    /// Writes the text.
    public func write(into writer: inout JSONWriter) { writer.element(raw: utf8) }
}

/// A JSON object as its text, without whitespace around its parts: the type `object` of a definition. ``JSONDecodable/init(json:)``
/// decodes it: `try Pot(json: object.utf8)`.
public struct JSONObject: Sendable, Hashable, JSONReadable, JSONWritable {
    private let text: AnyJSON

    /// The text in UTF-8.
    public var utf8: [UInt8] { text.utf8 }

    /// The text of an object.
    public init(_ object: some JSONEncodable) { text = AnyJSON(object) }

    private init(_ text: AnyJSON) { self.text = text }

    /// Reads an object; nil if the value is of another kind.
    public static func read(from reader: inout JSONReader) -> JSONObject? {
        let text = reader.rawValue()
        return text.first == ASCII.openBrace ? JSONObject(AnyJSON(compacting: text)) : nil
    }

    /// Writes the object.
    public func write(into writer: inout JSONWriter) { text.write(into: &writer) }
}
