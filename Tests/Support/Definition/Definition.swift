/// A Varlink interface definition, parsed.
public struct Definition: Sendable {
    /// The name of the interface.
    public var name: String
    /// The types, in their order.
    public var types: [Named<Shape>] = []
    /// The methods, in their order.
    public var methods: [Method] = []
    /// The errors with their parameters, in their order.
    public var errors: [Named<Shape>] = []

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
        case named(String)
        case nullable(Shape)
        case array(Shape)
        case map(Shape)
        case structure([Field])
        case enumeration([String])
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
