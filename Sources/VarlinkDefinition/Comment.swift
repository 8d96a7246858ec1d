/// A comment of a definition. Indented lines are a list, whose items may begin with names and a colon.
public struct Comment: Sendable, Equatable {
    /// A paragraph, or an item of a list.
    public enum Part: Sendable, Equatable {
        case paragraph(String)
        case item(String)
    }

    /// The parts, in their order.
    public var parts: [Part] = []

    /// A comment without parts.
    public init() {}

    /// The comment with these lines, without their `#` and the space after it.
    public init(lines: [String]) {
        var isOpen = false
        for line in lines {
            let text = String(line.drop { $0 == " " })
            let indentation = line.count - text.count
            guard !text.isEmpty else {
                isOpen = false
                continue
            }
            switch (isOpen ? parts.last : nil, indentation) {
            case (.paragraph(let last), 0): parts[parts.count - 1] = .paragraph("\(last) \(text)")
            case (.item(let last), 4...): parts[parts.count - 1] = .item("\(last) \(text)")
            case (_, 0): parts.append(.paragraph(text))
            default: parts.append(.item(text))
            }
            isOpen = true
        }
    }

    /// The names before the colon of an item, and the text after it; nil if the item does not begin with names. A remark in
    /// brackets may follow the names.
    public static func named(_ item: String) -> (names: [String], text: String)? {
        guard let colon = item.firstIndex(of: ":") else { return nil }
        let head = item[..<colon].prefix { $0 != "(" }
        let names = head.split(separator: ",").map {
            String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        guard !names.isEmpty, names.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }) else { return nil }
        return (names, String(item[item.index(after: colon)...].drop { $0 == " " }))
    }
}
