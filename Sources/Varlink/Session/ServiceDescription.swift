/// An interface that a service implements.
public struct InterfaceDescription: Sendable, Hashable {
    /// The name in reverse-domain notation.
    public let name: String
    /// The text of the definition.
    public let definition: String
    /// The names of the methods that the service implements, without the interface's name.
    public let methods: [String]

    /// An interface with its definition and its methods.
    public init(name: String, definition: String, methods: [String]) {
        self.name = name
        self.definition = definition
        self.methods = methods
    }
}

/// A service as `org.varlink.service` describes it. One is shared by all the sessions of a service.
public struct ServiceDescription: Sendable {
    /// Who makes the service.
    public let vendor: String
    /// What it is called.
    public let product: String
    /// The version of the product.
    public let version: String
    /// Where more is to be read about it.
    public let url: String
    /// Every interface, `org.varlink.service` first.
    public let interfaces: [InterfaceDescription]
    let methods: MethodTable

    /// A service with its interfaces; `org.varlink.service` is added to them.
    public init(vendor: String, product: String, version: String, url: String, interfaces: [InterfaceDescription]) {
        self.vendor = vendor
        self.product = product
        self.version = version
        self.url = url
        self.interfaces = [ServiceInterface.description] + interfaces
        methods = MethodTable(self.interfaces)
    }
}
