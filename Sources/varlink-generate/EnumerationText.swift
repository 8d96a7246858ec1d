import VarlinkDefinition

/// Writes an enumeration.
enum EnumerationText {
    static func write(_ enumeration: SwiftModel.Enumeration, named name: String, into text: inout SwiftText) {
        let access = enumeration.access
        text.documentation(enumeration.documentation)
        text.block("\(access) enum \(name): WireEnumeration") { text in
            for word in enumeration.cases {
                text.documentation(word.documentation)
                text.line("case \(SwiftName.escaped(word.name))")
            }
            text.space()
            text.documentation([.paragraph("The word on the wire.")])
            text.block("\(access) var word: StaticString") { text in
                text.switching("self") { text in
                    for word in enumeration.cases {
                        text.line("case .\(SwiftName.escaped(word.name)): \"\(word.wire)\"")
                    }
                }
            }
            text.space()
            text.documentation([.paragraph("The word as a string.")])
            text.line("\(access) var rawValue: String { word.description }")
            text.space()
            text.documentation([.paragraph("The value with this word; nil if the word is unknown.")])
            text.block("\(access) init?(rawValue: String)") { text in
                text.switching("rawValue") { text in
                    for word in enumeration.cases {
                        text.line("case \"\(word.wire)\": self = .\(SwiftName.escaped(word.name))")
                    }
                    text.line("default: return nil")
                }
            }
        }
    }
}
