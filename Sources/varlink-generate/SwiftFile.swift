import VarlinkDefinition

/// Writes the Swift file of a model.
struct SwiftFile {
    private let model: SwiftModel
    private var text = SwiftText()

    /// The source of a file with the types of a definition, which is given with the name of its file, as are the options. Throws the
    /// first fault, as `FILE:LINE:COLUMN: text`.
    static func source(
        of definition: String,
        _ definitionFile: String,
        options: String = "",
        _ optionsFile: String = ""
    ) throws(GeneratorFailure) -> String {
        let parsed: Definition
        do throws(DefinitionFault) {
            parsed = try Definition(parsing: definition)
        } catch {
            throw GeneratorFailure("\(definitionFile):\(error)")
        }
        let known: GeneratorOptions
        do throws(DefinitionFault) {
            known = try GeneratorOptions(parsing: options, for: parsed)
        } catch {
            throw GeneratorFailure("\(optionsFile):\(error)")
        }
        do throws(DefinitionFault) {
            var file = SwiftFile(model: try SwiftModeller.model(parsed, known))
            file.write(definition, definitionFile)
            return file.text.text
        } catch {
            throw GeneratorFailure("\(definitionFile):\(error)")
        }
    }

    private init(model: SwiftModel) { self.model = model }

    private var isPublic: Bool {
        model.options.access == "public"
            || model.declarations.contains {
                switch $0 {
                case .structure(let structure): structure.access == "public"
                case .enumeration(let enumeration): enumeration.access == "public"
                }
            }
    }

    private mutating func write(_ definition: String, _ definitionFile: String) {
        let model = model
        text.line(
            "// Made by varlink-generate from \(definitionFile.split(separator: "/").last ?? ""); change that file instead."
        )
        text.line("// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation")
        text.space()
        text.line("\(isPublic ? "public" : "package") import Varlink")
        text.space()
        writeInterface(definition)
        for declaration in model.declarations {
            text.space()
            switch declaration {
            case .structure(let structure):
                nested(structure.name) { StructureText(structure, model).write($1, into: &$0) }
            case .enumeration(let enumeration):
                nested(enumeration.name) { EnumerationText.write(enumeration, named: $1, into: &$0) }
            }
        }
        guard !model.failures.isEmpty else { return }
        text.space()
        nested(model.errorsName) { FailureText(model).write($1, into: &$0) }
    }

    /// Writes a type, inside of an extension of the type around it. The body gets the last part of the name.
    private mutating func nested(_ name: String, _ body: (inout SwiftText, String) -> Void) {
        let parts = name.split(separator: ".").map(String.init)
        guard let last = parts.last, parts.count > 1 else { return body(&text, name) }
        text.block("extension \(parts.dropLast().joined(separator: "."))") { body(&$0, last) }
    }

    private mutating func writeInterface(_ definition: String) {
        let access = model.options.access
        text.documentation(
            [.paragraph("The Varlink interface `\(model.definition.name)`.")] + model.definition.comment.parts
        )
        text.block("\(access) enum \(model.interface)") { text in
            text.documentation([.paragraph("The part before the last dot in the names of methods and errors.")])
            text.line("\(access) static let name = \"\(model.definition.name)\"")
            text.space()
            text.documentation([.paragraph("Every method, in the order of the definition.")])
            let methods = model.methods.map { "\($0).self" }
            text.list("\(access) static let methods: [any Method.Type] =", methods)
            text.space()
            text.documentation([.paragraph("The interface as a service describes it.")])
            let arguments = ["name: name", "definition: definition", "methods: methods.map { $0.name }"]
            text.parameters("\(access) static let description = InterfaceDescription", arguments, "")
            text.space()
            text.documentation([.paragraph("The text of the definition.")])
            if let expression = model.options.definition {
                text.line("\(access) static let definition = \(expression)")
            } else {
                text.literal("\(access) static let definition =", definition)
            }
        }
    }
}

/// The fault because of which no Swift file is made.
struct GeneratorFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
