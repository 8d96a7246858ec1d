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
        let json = escapingControls(json)
        return style == .pretty ? PrettyJSON.layOut(json) : json
    }

    /// The same value with DEL and the control characters of ISO 6429, which JSON lets stand and a terminal may obey,
    /// as escapes.
    static func escapingControls(_ json: [UInt8]) -> [UInt8] {
        guard json.contains(where: { $0 == 0x7F || $0 == 0xC2 }) else { return json }
        var result: [UInt8] = []
        var index = 0
        while index < json.count {
            let byte = json[index]
            if byte == 0x7F {
                result += Array("\\u007f".utf8)
            } else if byte == 0xC2, index + 1 < json.count, json[index + 1] < 0xA0 {
                index += 1
                result += Array("\\u00\(String(json[index], radix: 16))".utf8)
            } else {
                result.append(byte)
            }
            index += 1
        }
        return result
    }
}
