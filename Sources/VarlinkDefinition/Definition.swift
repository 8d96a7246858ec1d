/// A Varlink interface definition, parsed.
///
/// A path names a part of it: `Pot` is a type, a method's parameters or an error's; `Pot.lid` is a member, or a word of an
/// enumeration, also if the type of `lid` has no name and has members itself: `Pot.lid.size`. `Cook.Reply` is the reply of a method.
public struct Definition: Sendable {
    /// The name of the interface.
    public var name: String
    /// The types, in their order.
    public var types: [Named<Shape>] = []
    /// The methods, in their order.
    public var methods: [Method] = []
    /// The errors with their parameters, in their order.
    public var errors: [Named<Shape>] = []
    /// The comment above the interface.
    public var comment = Comment()
    /// The place of each name, by its path.
    public var places: [String: Place] = [:]
    /// The comment of each name that has one, by its path.
    public var comments: [String: Comment] = [:]

    /// A value with a name.
    public struct Named<Value: Sendable>: Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var value: Value
    }

    /// A method.
    public struct Method: Sendable {
        /// The name of the method.
        public var name: String
        /// The structure of its parameters.
        public var parameters: Shape
        /// The structure of its reply.
        public var reply: Shape
    }

    /// A field of a structure.
    public struct Field: Sendable, Equatable {
        /// The name of the field.
        public var name: String
        /// The type of the field.
        public var type: Shape

        /// A field with a name and a type.
        public init(name: String, type: Shape) {
            self.name = name
            self.type = type
        }

        /// Whether the field may be absent.
        public var isOptional: Bool {
            if case .nullable = type { true } else { false }
        }
    }

    /// A type of the definition language.
    public indirect enum Shape: Sendable, Equatable {
        case bool
        case int
        case float
        case string
        case object
        /// A value of any kind.
        case any
        case named(String)
        case nullable(Shape)
        case array(Shape)
        case map(Shape)
        case structure([Field])
        case enumeration([String])
    }

    /// A place in a text; lines and columns count from 1, columns in bytes.
    public struct Place: Sendable, Hashable {
        /// The line.
        public var line: Int
        /// The column.
        public var column: Int

        /// A line and a column.
        public init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }
    }

    /// The type with a name; nil if there is none.
    public func type(_ name: String) -> Shape? { types.first { $0.name == name }?.value }

    /// The method with a name; nil if there is none.
    public func method(_ name: String) -> Method? { methods.first { $0.name == name } }

    /// The parameters of the error with a name; nil if there is none.
    public func error(_ name: String) -> Shape? { errors.first { $0.name == name }?.value }

    /// The type behind a name, without the mark of an optional one.
    public func resolved(_ type: Shape) -> Shape {
        switch type {
        case .named(let name): self.type(name).map(resolved) ?? type
        case .nullable(let wrapped): resolved(wrapped)
        default: type
        }
    }

    /// The fields of a structure; empty for any other type.
    public func fields(_ type: Shape) -> [Field] {
        if case .structure(let fields) = resolved(type) { fields } else { [] }
    }

    /// The cases of an enumeration; empty for any other type.
    public func cases(_ type: Shape) -> [String] {
        if case .enumeration(let cases) = resolved(type) { cases } else { [] }
    }
}

/// A fault of a definition, and its place.
public struct DefinitionFault: Error, Equatable, CustomStringConvertible {
    /// The place of the fault.
    public var place: Definition.Place
    /// The fault, in a few words.
    public var text: String

    /// A fault at a place.
    public init(_ text: String, at place: Definition.Place) {
        self.place = place
        self.text = text
    }

    /// `LINE:COLUMN: text`, as compilers write it.
    public var description: String { "\(place.line):\(place.column): \(text)" }
}
