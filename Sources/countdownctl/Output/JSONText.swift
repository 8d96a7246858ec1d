import Text
import Varlink

/// How JSON is laid out, in the words of systemctl(1).
enum JSONStyle: String, CaseIterable {
    /// On one line.
    case short
    /// A member or element a line.
    case pretty
}

/// The interface's objects as text.
enum JSONText {
    static func object(_ value: some JSONEncodable, _ style: JSONStyle) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(value.encode)
        return render(writer.bytes, style)
    }

    static func array(_ values: [some JSONEncodable], _ style: JSONStyle) -> [UInt8] {
        var writer = JSONWriter()
        writer.array { array in
            for value in values { array.element(value) }
        }
        return render(writer.bytes, style)
    }

    private static func render(_ json: [UInt8], _ style: JSONStyle) -> [UInt8] {
        let json = escapingUnprintable(json)
        return style == .pretty ? PrettyJSON.layOut(json) : json
    }

    /// The same value, with each character that cannot be seen or that a terminal may obey as an escape. JSON allows
    /// such characters in strings; outside of strings it has none.
    static func escapingUnprintable(_ json: [UInt8]) -> [UInt8] {
        guard json.contains(where: { $0 >= 0x7F }) else { return json }
        let text = PrintableText.replacing(String(decoding: json, as: UTF8.self)) { scalar in
            String(scalar).utf16.map { "\\u\(hexadecimal($0, 4))" }.joined()
        }
        return Array(text.utf8)
    }
}

/// JSON text laid out for people: a member or element a line, indented by tabs as systemctl(1) has it.
struct PrettyJSON {
    private var result: [UInt8] = []
    private var depth = 0

    /// The same value as valid JSON text without whitespace between its tokens, laid out.
    static func layOut(_ json: [UInt8]) -> [UInt8] {
        var layout = PrettyJSON()
        var rest = json[...]
        while let token = layout.nextToken(&rest) { layout.append(token, before: rest.first) }
        return layout.result
    }

    /// A string with its quotes, or one byte of anything else.
    private func nextToken(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let first = rest.first else { return nil }
        var length = 1
        if first == UInt8(ascii: "\"") {
            var isEscaped = false
            for byte in rest.dropFirst() {
                length += 1
                if !isEscaped, byte == first { break }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            }
        }
        defer { rest = rest.dropFirst(length) }
        return rest.prefix(length)
    }

    private mutating func append(_ token: ArraySlice<UInt8>, before next: UInt8?) {
        switch token.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            result += token
            depth += 1
            // An empty one stays on its line.
            if next != UInt8(ascii: "}"), next != UInt8(ascii: "]") { breakLine() }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            if let last = result.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") { breakLine() }
            result += token
        case UInt8(ascii: ","):
            result += token
            breakLine()
        case UInt8(ascii: ":"): result += [UInt8(ascii: ":"), UInt8(ascii: " ")]
        default: result += token
        }
    }

    private mutating func breakLine() {
        result.append(UInt8(ascii: "\n"))
        result += Array(repeating: UInt8(ascii: "\t"), count: depth)
    }
}
