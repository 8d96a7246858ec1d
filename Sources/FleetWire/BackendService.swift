public import Varlink

/// The interface as a bridge serves it. Daemons only call it.
extension BackendInterface {
    /// Every method, in the order of the definition.
    public static let methods: [any BackendMethod.Type] = [Propose.self, Follow.self, Describe.self]

    /// The interface as a Varlink service describes it.
    public static let description = InterfaceDescription(
        name: name,
        definition: definition,
        methods: methods.map { $0.name }
    )
}
