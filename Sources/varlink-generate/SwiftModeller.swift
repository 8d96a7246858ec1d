import VarlinkDefinition

/// Makes the Swift types of a definition, and refuses names that meet.
struct SwiftModeller {
    private let definition: Definition
    private let options: GeneratorOptions
    private var model: SwiftModel
    /// The path and the shape of each Swift type.
    private var taken: [String: (path: String, shape: Definition.Shape)] = [:]
    /// The types that only parameters have.
    private let strict: Set<String>

    /// The Swift types of a definition.
    ///
    /// - Throws: the first fault: two parts have one name in Swift, or a structure has itself as a member.
    static func model(_ definition: Definition, _ options: GeneratorOptions) throws(DefinitionFault) -> SwiftModel {
        var modeller = SwiftModeller(definition, options)
        try modeller.makeDeclarations()
        return modeller.model
    }

    private init(_ definition: Definition, _ options: GeneratorOptions) {
        self.definition = definition
        self.options = options
        let last = definition.name.split(separator: ".").last.map(String.init) ?? ""
        let interface = options.interface ?? SwiftName.type(last.replacing("-", with: "_"))
        let errors = options.errors ?? (options.isFlat ? "\(interface)Error" : "\(interface).Failure")
        model = SwiftModel(definition: definition, options: options, interface: interface, errorsName: errors)
        let parameters = definition.typesUsed(by: definition.methods.map(\.parameters))
        strict = parameters.subtracting(
            definition.typesUsed(by: definition.methods.map(\.reply) + definition.errors.map(\.value))
        )
    }

    private mutating func makeDeclarations() throws(DefinitionFault) {
        for type in definition.types where definition.contains(type.name, type.value) {
            throw fault(
                "\(type.name) has itself as a member, which a Swift structure cannot: make a list of it",
                type.name
            )
        }
        for type in definition.types { try declare(type.value, type.name, isStrict: strict.contains(type.name)) }
        for method in definition.methods {
            let replyPath = "\(method.name).Reply"
            let reply = typeName(replyPath)
            model.methods.append(typeName(method.name))
            try declare(method.parameters, method.name, isStrict: true, method: (method.name, reply))
            try declare(method.reply, replyPath, isStrict: false)
        }
        for error in definition.errors {
            model.failures.append(
                SwiftModel.Failure(
                    name: SwiftName.member(error.name),
                    wire: error.name,
                    members: try members(error.value, error.name, "public", isStrict: false),
                    documentation: documentation(error.name, error.value)
                )
            )
        }
        try refuseTwins(model.failures.map { ($0.name, $0.wire) })
    }

    private func fault(_ text: String, _ path: String) -> DefinitionFault {
        DefinitionFault(text, at: definition.places[path] ?? .init(line: 1, column: 1))
    }

    // MARK: Names

    /// The Swift name of the type at a path.
    private func typeName(_ path: String) -> String {
        if let name = options.names[path] { return name }
        let owner = path.split(separator: ".").dropLast().joined(separator: ".")
        let last = String(path.split(separator: ".").last ?? "")
        let name = SwiftName.type(last) == model.interface ? "\(last)Value" : SwiftName.type(last)
        if owner.isEmpty { return options.isFlat ? name : "\(model.interface).\(name)" }
        if definition.error(owner) != nil { return "\(model.errorsName).\(owner)\(name)" }
        let isReply = last == "Reply" && definition.method(owner) != nil
        return "\(typeName(owner)).\(isReply ? last : name)"
    }

    /// Notes the Swift name of a type; false if an equal type has it already, because options say so.
    private mutating func take(
        _ name: String,
        _ path: String,
        _ shape: Definition.Shape
    ) throws(DefinitionFault) -> Bool {
        if let other = taken[name] {
            guard options.names[path] != nil, other.shape == shape else {
                throw fault(
                    "\(path) and \(other.path) are both \(name) in Swift: give one of them another name with an option",
                    path
                )
            }
            return false
        }
        taken[name] = (path, shape)
        return true
    }

    /// Refuses two members of one type with the same name in Swift.
    private func refuseTwins(_ names: [(swift: String, path: String)]) throws(DefinitionFault) {
        var paths: [String: String] = [:]
        for (name, path) in names {
            if let other = paths.updateValue(path, forKey: name) {
                throw fault(
                    "\(path) and \(other) are both \(name) in Swift: give one of them another name with an option",
                    path
                )
            }
        }
    }

    // MARK: Declarations

    private mutating func declare(
        _ shape: Definition.Shape,
        _ path: String,
        isStrict: Bool,
        method: (name: String, reply: String)? = nil
    ) throws(DefinitionFault) {
        let name = typeName(path)
        guard try take(name, path, shape) else { return }
        let access = access(path, options.access)
        switch shape {
        case .structure:
            let place = model.declarations.count
            let members = try members(shape, path, access, isStrict: isStrict)
            let views = members.compactMap { member in member.view.map { ($0.name, member.path) } }
            try refuseTwins(members.map { ($0.name, $0.path) } + views)
            let structure = SwiftModel.Structure(
                path: path,
                name: name,
                access: access,
                members: members,
                isStrict: isStrict,
                method: method,
                documentation: documentation(path, shape)
            )
            model.declarations.insert(.structure(structure), at: place)
        case .enumeration(let words):
            model.declarations.append(.enumeration(try enumeration(words, path, name, access)))
        default: throw fault("\(path) is neither a structure nor an enumeration", path)
        }
    }

    private func enumeration(
        _ words: [String],
        _ path: String,
        _ name: String,
        _ access: String
    ) throws(DefinitionFault) -> SwiftModel.Enumeration {
        let cases = words.map { word in
            (caseName("\(path).\(word)", word), word, memberDocumentation("\(path).\(word)", of: path, word))
        }
        try refuseTwins(cases.map { ($0.0, "\(path).\($0.1)") })
        let documentation = documentation(path, .enumeration(words))
        return SwiftModel.Enumeration(name: name, access: access, cases: cases, documentation: documentation)
    }

    private func caseName(_ path: String, _ word: String) -> String {
        let name = options.names[path] ?? SwiftName.member(word)
        return ["allCases", "init"].contains(name) ? "\(name)Value" : name
    }

    private func access(_ path: String, _ usual: String) -> String {
        if options.has(.public, path) { return "public" }
        return options.has(.package, path) ? "package" : usual
    }

    private mutating func members(
        _ shape: Definition.Shape,
        _ path: String,
        _ access: String,
        isStrict: Bool
    ) throws(DefinitionFault) -> [SwiftModel.Member] {
        var members: [SwiftModel.Member] = []
        for field in definition.fields(shape) {
            members.append(try member(field, of: path, access, isStrict: isStrict))
        }
        return members
    }

    private mutating func member(
        _ field: Definition.Field,
        of owner: String,
        _ usual: String,
        isStrict: Bool
    ) throws(DefinitionFault) -> SwiftModel.Member {
        let path = "\(owner).\(field.name)"
        var shape = field.type
        if case .nullable(let wrapped) = shape { shape = wrapped }
        if options.has(.closure, path), field.isOptional || definition.fields(shape).isEmpty {
            throw fault("\(path) has an option for structures that are always present", path)
        }
        if options.has(.extensible, path), field.isOptional || definition.cases(shape).isEmpty {
            throw fault("\(path) has an option for enumerations that are always present", path)
        }
        let type = try type(shape, path, isStrict: isStrict)
        let name = options.names[path].flatMap { shape.isAnonymous ? nil : $0 } ?? SwiftName.member(field.name)
        let view = try view(path, name, shape)
        return SwiftModel.Member(
            path: path,
            wire: field.name,
            name: ["self", "init", "hashValue"].contains(name) ? "\(name)Value" : name,
            type: options.types[path] ?? type,
            isOptional: field.isOptional,
            access: view != nil || usual == "package" ? "package" : access(path, usual),
            view: view,
            extensible: isStrict ? nil : extensibleElement(shape),
            value: options.defaults[path] ?? (field.isOptional ? "nil" : nil),
            documentation: memberDocumentation(path, of: owner, field.name)
        )
    }

    private func view(
        _ path: String,
        _ name: String,
        _ shape: Definition.Shape
    ) throws(DefinitionFault) -> (name: String, type: String)? {
        guard let type = options.has(.duration, path) ? "Duration" : options.instants[path] else { return nil }
        guard shape == .int, name.hasSuffix("USec") else {
            throw fault("\(path) is not an integer whose name ends in USec", path)
        }
        guard type == "Duration" || definition.error(String(path.prefix { $0 != "." })) == nil else {
            throw fault("\(path) is a member of an error, which can be a duration, but not an instant", path)
        }
        return (String(name.dropLast(4)), type)
    }

    /// The structure of which a type is a list, if one of its words may be unknown.
    private func extensibleElement(_ shape: Definition.Shape) -> String? {
        guard case .array(.named(let name)) = shape else { return nil }
        let isExtensible = definition.fields(.named(name)).contains { options.has(.extensible, "\(name).\($0.name)") }
        return isExtensible ? typeName(name) : nil
    }

    /// The Swift type of a shape. A type without a name is declared under the path of its member.
    private mutating func type(
        _ shape: Definition.Shape,
        _ path: String,
        isStrict: Bool
    ) throws(DefinitionFault) -> String {
        switch shape {
        case .bool: return "Bool"
        case .int: return "Int64"
        case .float: return "Double"
        case .string: return "String"
        case .object: return "JSONObject"
        case .any: return "AnyJSON"
        case .named(let name): return typeName(name)
        case .nullable(let wrapped): return "\(try type(wrapped, path, isStrict: isStrict))?"
        case .array(let element): return "[\(try type(element, path, isStrict: isStrict))]"
        case .map(let value): return "TextMap<\(try type(value, path, isStrict: isStrict))>"
        case .structure, .enumeration:
            try declare(shape, path, isStrict: isStrict)
            return typeName(path)
        }
    }

    // MARK: Comments

    /// The comment of a type, a method or an error without the items about its members.
    private func documentation(_ path: String, _ shape: Definition.Shape) -> [Comment.Part] {
        var parts = (definition.comments[path]?.parts ?? []).filter { part in
            guard case .item(let text) = part, let (names, _) = Comment.named(text) else { return true }
            return owner(of: names, in: path) == nil
        }
        // The items of a list that began with this line are now at the members.
        for (index, part) in parts.enumerated() {
            guard case .paragraph(let text) = part, text.last == ":" else { continue }
            if index + 1 < parts.count, case .item = parts[index + 1] { continue }
            parts[index] = .paragraph("\(text.dropLast()).")
        }
        return parts
    }

    /// The comment of a member: its own, or an item with its name in the comment of the type or method around it.
    private func memberDocumentation(_ path: String, of owner: String, _ name: String) -> [Comment.Part] {
        if let own = definition.comments[path] { return own.parts }
        let outermost = String(owner.prefix { $0 != "." })
        for case .item(let text) in definition.comments[outermost]?.parts ?? [] {
            guard let item = Comment.named(text), item.names.contains(name),
                self.owner(of: item.names, in: outermost) == owner
            else {
                continue
            }
            return [.paragraph(item.text.prefix(1).uppercased() + item.text.dropFirst())]
        }
        return []
    }

    /// The type inside of a type or a method that has members with all of these names.
    private func owner(of names: [String], in outermost: String) -> String? {
        let owners = [outermost, "\(outermost).Reply"]
        let nested = definition.places.keys.filter { $0.hasPrefix("\(outermost).") }.sorted()
        return (owners + nested).first { owner in names.allSatisfy { definition.places["\(owner).\($0)"] != nil } }
    }
}

extension Definition {
    /// The names of all types that shapes have.
    fileprivate func typesUsed(by shapes: [Shape]) -> Set<String> {
        var names: Set<String> = []
        var rest = shapes
        while let shape = rest.popLast() {
            switch shape {
            case .named(let name): if names.insert(name).inserted, let type = type(name) { rest.append(type) }
            case .nullable(let wrapped), .array(let wrapped), .map(let wrapped): rest.append(wrapped)
            case .structure(let fields): rest += fields.map(\.type)
            default: break
            }
        }
        return names
    }

    /// Whether a structure has itself as a member, also inside of others, but not in a list or a map.
    fileprivate func contains(_ name: String, _ type: Shape) -> Bool {
        var seen: Set<String> = []
        var rest = [type]
        while let shape = rest.popLast() {
            switch shape {
            case .named(name): return true
            case .named(let other): if seen.insert(other).inserted, let type = self.type(other) { rest.append(type) }
            case .nullable(let wrapped): rest.append(wrapped)
            case .structure(let fields): rest += fields.map(\.type)
            default: break
            }
        }
        return false
    }
}

extension Definition.Shape {
    /// Whether a type has no name and is declared for a member.
    fileprivate var isAnonymous: Bool {
        switch self {
        case .structure, .enumeration: true
        case .nullable(let wrapped), .array(let wrapped), .map(let wrapped): wrapped.isAnonymous
        default: false
        }
    }
}
