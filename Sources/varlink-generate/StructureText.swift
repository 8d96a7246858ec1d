import VarlinkDefinition

/// Writes a structure with its coders.
struct StructureText {
    private let structure: SwiftModel.Structure
    private let model: SwiftModel
    private let access: String
    /// The members that are read as values of other types, or written by closures.
    private let generic: [SwiftModel.Member]
    private let closures: [SwiftModel.Member]
    private let extensible: SwiftModel.Member?

    init(_ structure: SwiftModel.Structure, _ model: SwiftModel) {
        self.structure = structure
        self.model = model
        access = structure.access
        generic = structure.members.filter { model.options.has(.generic, $0.path) }
        closures = structure.members.filter { model.options.has(.closure, $0.path) }
        extensible = structure.members.first { model.options.has(.extensible, $0.path) }
    }

    private var isInlined: Bool { access != "public" && !(generic.isEmpty && closures.isEmpty) }

    /// Marks a declaration that inlined functions use.
    private func mark(_ text: inout SwiftText) {
        if isInlined { text.line("@usableFromInline") }
    }

    func write(_ name: String, into text: inout SwiftText) {
        let conformance =
            if structure.method != nil {
                "Method"
            } else {
                "Sendable, Hashable, JSONEncodable, \(extensible == nil ? "JSONDecodable" : "JSONExtensible")"
            }
        text.documentation(structure.documentation)
        mark(&text)
        text.block("\(access) struct \(name): \(conformance)") { text in
            writeMethod(&text)
            text.space()
            writeProperties(&text)
            text.space()
            writeInitializer(&text)
            text.space()
            writeEncoder(&text)
            text.space()
            writeDecoder(&text)
        }
    }

    private func writeMethod(_ text: inout SwiftText) {
        guard let method = structure.method else { return }
        if method.reply != "\(structure.name).Reply" {
            text.documentation([.paragraph("What the method answers.")])
            mark(&text)
            text.line("\(access) typealias Reply = \(method.reply)")
            text.space()
        }
        text.documentation([.paragraph("The name of the interface.")])
        mark(&text)
        text.line("\(access) static var interface: String { \(model.interface).name }")
        text.documentation([.paragraph("The name within the interface.")])
        mark(&text)
        text.line("\(access) static let name = \"\(method.name)\"")
    }

    private func writeProperties(_ text: inout SwiftText) {
        for member in structure.members {
            if member.view == nil { text.documentation(member.documentation) }
            text.line(
                "\(member.access) var \(SwiftName.escaped(member.name)): \(member.type)\(member.isOptional ? "?" : "")"
            )
        }
        for member in structure.members {
            guard let view = member.view else { continue }
            text.space()
            text.documentation(member.documentation)
            text.short(
                "\(access) var \(SwiftName.escaped(view.name)): \(view.type)\(member.isOptional ? "?" : "")",
                read(member, view.type)
            )
        }
    }

    /// The expression of a duration or an instant.
    private func read(_ member: SwiftModel.Member, _ type: String) -> String {
        let isDuration = type == "Duration"
        guard !member.isOptional else {
            return
                "\(SwiftName.escaped(member.name)).map(\(isDuration ? "Duration.microseconds" : "\(type).init(microseconds:)"))"
        }
        return isDuration ? ".microseconds(\(member.name))" : "\(type)(microseconds: \(member.name))"
    }

    private func writeInitializer(_ text: inout SwiftText) {
        text.documentation([.paragraph(structure.members.isEmpty ? "The value." : "The value with these members.")])
        mark(&text)
        let hasDefaults = !model.options.has(.noDefaults, structure.path)
        let parameters = structure.members.map { member in
            let value = hasDefaults ? member.value.map { " = \($0)" } ?? "" : ""
            return "\(SwiftName.label(member.name)): \(member.type)\(member.isOptional ? "?" : "")\(value)"
        }
        let head = model.options.initializers.map { "\($0) init" } ?? "\(access) init"
        guard !parameters.isEmpty else { return text.line("\(head)() {}") }
        text.parameters(head, parameters, " {")
        text.body { text in
            for member in structure.members { text.line("self.\(member.name) = \(SwiftName.escaped(member.name))") }
        }
    }

    // MARK: Writing

    private func writeEncoder(_ text: inout SwiftText) {
        let hasOptional = structure.members.contains(where: \.isOptional)
        text.documentation([.paragraph("Writes the members\(hasOptional ? "; those that are nil are left out" : "").")])
        mark(&text)
        let head = "\(access) func encode(into writer: inout JSONWriter)"
        guard !structure.members.isEmpty else { return text.line("\(head) {}") }
        let names = closures.map { "`\($0.wire)`" }.joined(separator: " and ")
        guard !closures.isEmpty else { return text.block(head) { writeMembers(into: &$0) } }
        text.block(head) { text in
            let values = structure.members.map { member in
                closures.contains { $0.path == member.path }
                    ? "\(SwiftName.label(member.name)): { \(SwiftName.escaped(member.name)).encode(into: &$0) }"
                    : "\(SwiftName.label(member.name)): \(SwiftName.escaped(member.name))"
            }
            text.line("Self.encode(\((["into: &writer"] + values).joined(separator: ", ")))")
        }
        text.space()
        text.documentation([.paragraph("Writes the members; a closure writes the members of \(names).")])
        text.line("@inlinable")
        let parameters = structure.members.map { member in
            closures.contains { $0.path == member.path }
                ? "\(SwiftName.label(member.name)): (inout JSONWriter) -> Void"
                : "\(SwiftName.label(member.name)): \(member.type)\(member.isOptional ? "?" : "")"
        }
        text.parameters("\(access) static func encode", ["into writer: inout JSONWriter"] + parameters, " {")
        text.body { writeMembers(into: &$0) }
    }

    private func writeMembers(into text: inout SwiftText) {
        for member in structure.members {
            let isClosure = closures.contains { $0.path == member.path }
            let function = member.isOptional ? "memberIfPresent" : "member"
            let name = member.name == "writer" ? "self.writer" : SwiftName.escaped(member.name)
            text.line("writer.\(function)(\"\(member.wire)\", \(isClosure ? "object: " : "")\(name))")
        }
    }

    // MARK: Reading

    /// The name of the variable with a member that is read.
    private func variable(_ member: SwiftModel.Member) -> String {
        ["reader", "known"].contains(member.name) ? "\(member.name)Member" : SwiftName.escaped(member.name)
    }

    private func writeDecoder(_ text: inout SwiftText) {
        let unknown =
            structure.isStrict ? "Refuses unknown ones." : "Skips unknown ones, which a newer peer may have added."
        let faults = structure.isStrict ? "missing, unknown or invalid" : "missing or invalid"
        let note: [Comment.Part] = [
            .paragraph("Reads the members. \(unknown)"), .item("Throws: the name of the member that is \(faults)."),
        ]
        text.documentation(structure.isStrict || !structure.members.isEmpty ? note : [.paragraph("Skips all members.")])
        mark(&text)
        text.block("\(access) init(from reader: inout JSONReader) throws(InvalidParameter)") { text in
            if let extensible {
                text.line(
                    "guard let known = try Self.ifKnown(from: &reader) else { throw InvalidParameter(\"\(extensible.wire)\") }"
                )
                text.line("self = known")
            } else if generic.isEmpty {
                writeReading(&text)
                for member in structure.members { text.line("self.\(member.name) = \(value(of: member))") }
            } else {
                for member in generic {
                    text.line("let \(variable(member)): \(member.type)\(member.isOptional ? "?" : "")")
                }
                text.line("\(Self.tuple(generic.map(variable) + rest("self"))) = try Self.read(from: &reader)")
                for member in generic { text.line("self.\(member.name) = \(variable(member))") }
            }
            if model.options.has(.check, structure.path) { text.line("try check()") }
        }
        if extensible != nil || !generic.isEmpty { text.space() }
        writeGenericDecoder(&text)
        writeExtensibleDecoder(&text)
    }

    /// Writes the variables of the members, and the pass over the object.
    private func writeReading(_ text: inout SwiftText, types: [String: String] = [:]) {
        for member in structure.members {
            let type = types[member.path] ?? member.extensible.map { "[IfKnown<\($0)>]" } ?? member.type
            text.line("var \(variable(member)) = JSONMember<\(type)>(\"\(member.wire)\")")
        }
        guard !structure.members.isEmpty else {
            return text.line(structure.isStrict ? "try reader.members { _ in false }" : "reader.skipMembers()")
        }
        let call = structure.isStrict ? "try reader.members" : "reader.knownMembers"
        text.closure(call, structure.members.map { "\(variable($0)).read(&$0)" }, "||")
    }

    /// The expression of a member that was read.
    private func value(of member: SwiftModel.Member) -> String {
        let value = "try \(variable(member)).\(member.isOptional ? "optional" : "required")"
        guard member.extensible != nil else { return value }
        return "\(value)\(member.isOptional ? "?" : "").compactMap(\\.value)"
    }

    private func writeGenericDecoder(_ text: inout SwiftText) {
        guard !generic.isEmpty else { return }
        let names = generic.map { "`\($0.wire)`" }.joined(separator: " and ")
        let (verb, kind) = generic.count == 1 ? ("is", "a value of another type") : ("are", "values of other types")
        let result = rest("").isEmpty ? "" : ", and \(verb) empty in the result"
        text.documentation([
            .paragraph("Reads the members. \(names) \(verb) read as \(kind)\(result)."),
            .item("Throws: the name of the member that is missing or invalid."),
        ])
        text.line("@inlinable")
        let types = generic.map { "Other\(SwiftName.type($0.name))" }
        let head = "\(access) static func read<\(types.map { "\($0): JSONReadable" }.joined(separator: ", "))>"
        let parameters = zip(generic, types).map { "\($0.name)As _: \($1).Type = \($1).self" }
        let results = zip(generic, types).map { "\($1)\($0.isOptional ? "?" : "")" } + rest("Self")
        text.parameters(
            head,
            ["from reader: inout JSONReader"] + parameters,
            " throws(InvalidParameter) -> \(Self.tuple(results)) {"
        )
        text.body { text in
            writeReading(&text, types: Dictionary(uniqueKeysWithValues: zip(generic.map(\.path), types)))
            if !rest("").isEmpty {
                writeValue("let value = Self", &text) { member in
                    generic.contains { $0.path == member.path } ? Self.empty(member) : value(of: member)
                }
            }
            text.line("return \(Self.tuple(generic.map(value(of:)) + rest("value")))")
        }
    }

    /// What a function that reads members as other types returns beside them: nothing if there are no other members.
    private func rest(_ value: String) -> [String] { generic.count < structure.members.count ? [value] : [] }

    private static func tuple(_ values: [String]) -> String {
        values.count == 1 ? values[0] : "(\(values.joined(separator: ", ")))"
    }

    /// The value of a member that is read as another type.
    private static func empty(_ member: SwiftModel.Member) -> String {
        if member.isOptional { return "nil" }
        if member.type.hasPrefix("[") { return "[]" }
        return member.type == "String" ? "\"\"" : "\(member.type)()"
    }

    private func writeExtensibleDecoder(_ text: inout SwiftText) {
        guard let extensible else { return }
        text.documentation([
            .paragraph(
                "Reads the members; nil if the word of `\(extensible.wire)` is unknown, because a newer peer has added it."
            ),
            .item("Throws: the name of the member that is missing or invalid."),
        ])
        text.block("\(access) static func ifKnown(from reader: inout JSONReader) throws(InvalidParameter) -> Self?") {
            text in
            writeReading(&text, types: [extensible.path: "String"])
            text.line(
                "guard let known = \(extensible.type)(rawValue: try \(variable(extensible)).required) else { return nil }"
            )
            writeValue("return Self", &text) { $0.path == extensible.path ? "known" : value(of: $0) }
        }
    }

    private func writeValue(_ head: String, _ text: inout SwiftText, _ value: (SwiftModel.Member) -> String) {
        text.parameters(head, structure.members.map { "\(SwiftName.label($0.name)): \(value($0))" }, "")
    }
}
