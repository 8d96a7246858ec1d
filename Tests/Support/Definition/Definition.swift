/// A Varlink interface definition, parsed.
public struct Definition: Sendable {
    public var name: String
    public var types: [Named<Shape>] = []
    public var methods: [Method] = []
    public var errors: [Named<Shape>] = []

    public struct Named<Value: Sendable>: Sendable {
        public var name: String
        public var value: Value
    }

    public struct Method: Sendable {
        public var name: String
        public var parameters: Shape
        public var reply: Shape
    }

    public struct Field: Sendable, Equatable {
        public var name: String
        public var type: Shape

        public init(name: String, type: Shape) {
            self.name = name
            self.type = type
        }

        public var isOptional: Bool {
            if case .nullable = type { true } else { false }
        }
    }

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

    public func type(_ name: String) -> Shape? { types.first { $0.name == name }?.value }

    public func method(_ name: String) -> Method? { methods.first { $0.name == name } }

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
