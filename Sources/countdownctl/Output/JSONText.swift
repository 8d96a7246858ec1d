import Text
import Varlink

/// The interface's objects as text, each on one line.
enum JSONText {
    static func object(_ value: some JSONEncodable) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(value.encode)
        return escapingUnprintable(writer.bytes)
    }

    static func array(_ values: [some JSONEncodable]) -> [UInt8] {
        var writer = JSONWriter()
        writer.array { array in
            for value in values { array.element(value) }
        }
        return escapingUnprintable(writer.bytes)
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
