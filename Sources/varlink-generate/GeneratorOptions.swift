import VarlinkDefinition

/// What a definition cannot say about its Swift types: a word and its values on each line, and comments after `#`.
struct GeneratorOptions {
    /// The names of options whose values are paths of a definition.
    enum Mark: String, CaseIterable {
        /// The access of types and members is `public`.
        case `public`
        /// The access of types and members is `package`.
        case package
        /// Of a type: its initializer needs a value for each member.
        case noDefaults = "no-defaults"
        /// Of a structure: a function `check() throws(InvalidParameter)` checks it after it was read.
        case check
        /// Of a member: a function reads the structure with this member as a value of another type.
        case generic
        /// Of a member that is an object: a function writes the structure with a closure for this member.
        case closure
        /// Of a member that is an enumeration: a structure with an unknown word is left out of lists in replies.
        case extensible
        /// Of a member in microseconds, whose name ends in USec: it has a `Duration`.
        case duration
    }

    /// The name of the enumeration with the interface's name and methods.
    var interface: String?
    /// The name of the enumeration of the errors.
    var errors: String?
    /// Whether types are at the top level, not inside of the enumeration of the interface.
    var isFlat = false
    var access = "public"
    /// The access of initializers with members; nil if initializers have the access of their types.
    var initializers: String?
    /// An expression for the text of the definition.
    var definition: String?
    /// The Swift names of types, and the Swift types, default values and types of instants of members, by path.
    private(set) var names: [String: String] = [:]
    private(set) var types: [String: String] = [:]
    private(set) var defaults: [String: String] = [:]
    private(set) var instants: [String: String] = [:]
    private var marks: [Mark: Set<String>] = [:]

    init() {}

    /// Whether a path has a mark.
    func has(_ mark: Mark, _ path: String) -> Bool { marks[mark]?.contains(path) ?? false }

    /// The options in a text, for a definition.
    init(parsing text: String, for definition: Definition) throws(DefinitionFault) {
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.prefix { $0 != "#" }.split(separator: " ")
            guard let option = words.first else { continue }
            let place = { (word: Substring) in
                Definition.Place(
                    line: number + 1,
                    column: line.utf8.distance(from: line.startIndex, to: word.startIndex) + 1
                )
            }
            let values = words.dropFirst()
            guard let first = values.first ?? (option == "flat" ? option : nil) else {
                throw DefinitionFault("the option '\(option)' has no value", at: place(option))
            }
            let isSet = set(String(option), String(line[first.startIndex...(values.last ?? first).lastIndex]))
            guard !isSet else { continue }
            let paths = try paths(option, values, place)
            for path in paths where definition.places[String(path)] == nil {
                throw DefinitionFault("the definition has no '\(path)'", at: place(path))
            }
        }
    }

    /// Takes an option about the whole interface; false if it is another one.
    private mutating func set(_ option: String, _ value: String) -> Bool {
        switch option {
        case "interface": interface = value
        case "errors": errors = value
        case "flat": isFlat = true
        case "access": access = value
        case "initializers": initializers = value
        case "definition": definition = value
        default: return false
        }
        return true
    }

    /// Takes an option about parts of the definition, and returns their paths.
    private mutating func paths(
        _ option: Substring,
        _ values: ArraySlice<Substring>,
        _ place: (Substring) -> Definition.Place
    ) throws(DefinitionFault) -> ArraySlice<Substring> {
        let (path, rest) = (String(values.first ?? ""), values.dropFirst().joined(separator: " "))
        switch option {
        case "name": names[path] = rest
        case "type": types[path] = rest
        case "default": defaults[path] = rest
        case "instant":
            for member in values.dropFirst() { instants[String(member)] = path }
            return values.dropFirst()
        default:
            guard let mark = Mark(rawValue: String(option)) else {
                throw DefinitionFault("unknown option '\(option)'", at: place(option))
            }
            marks[mark, default: []].formUnion(values.map(String.init))
            return values
        }
        guard !rest.isEmpty else { throw DefinitionFault("'\(option) \(path)' has no value", at: place(option)) }
        return values.prefix(1)
    }
}

extension Substring {
    /// The index of the last character of a word.
    fileprivate var lastIndex: Index { index(before: endIndex) }
}
