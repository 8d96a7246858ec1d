import System
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
    /// One object.
    static func object(_ value: some JSONEncodable, _ style: JSONStyle) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(value.encode)
        return render(writer.bytes, style)
    }

    /// An array of objects.
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
            String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
        return Array(text.utf8)
    }
}
