import Glibc

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

/// A service as `org.varlink.service` describes it (UAPI.20). All sessions of a service share one.
///
/// A class, because the compiler copies a session when it calls a method that only borrows it, and the strings and arrays
/// would be half of the session.
public final class ServiceDescription: Sendable {
    /// The maker of the service.
    public let vendor: String
    /// The name of the product.
    public let product: String
    /// The version of the product.
    public let version: String
    /// A page about the product.
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

/// A method that a service implements.
final class ServiceMethod: Sendable {
    let interface: String
    let name: String
    let fullName: String
    /// Its place among the methods of the service; negative for those of `org.varlink.service`.
    let number: Int
    /// Whether the session itself answers it.
    let isIntrospection: Bool

    init(interface: String, name: String, number: Int) {
        self.interface = interface
        self.name = name
        self.number = number
        fullName = interface + "." + name
        isIntrospection = interface == ServiceInterface.name
    }
}

/// Finds methods by the bytes of their full names, without making strings.
struct MethodTable: Sendable {
    private let interfaces: [String]
    /// The methods, those of equal length together.
    private let targets: [ServiceMethod]
    /// The index in `targets` of the first method of each length.
    private let starts: [Int]
    /// The full names of the targets, one after the other, and the offset of each.
    private let names: [UInt8]
    private let nameStarts: [Int]

    init(_ descriptions: [InterfaceDescription]) {
        interfaces = descriptions.map(\.name)
        let methods = descriptions.flatMap { description in description.methods.map { (description.name, $0) } }
        let targets = zip((-ServiceInterface.description.methods.count)..., methods).map { number, method in
            ServiceMethod(interface: method.0, name: method.1, number: number)
        }
        let sorted = targets.sorted { $0.fullName.utf8.count < $1.fullName.utf8.count }
        let lengths = sorted.map(\.fullName.utf8.count)
        starts = (0...(lengths.last ?? 0) + 1).map { length in
            lengths.firstIndex { $0 >= length } ?? lengths.count
        }
        names = sorted.flatMap { Array($0.fullName.utf8) }
        nameStarts = lengths.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1) }
        self.targets = sorted
    }

    /// The method with this full name.
    func find(_ name: Span<UInt8>) -> ServiceMethod? {
        guard name.count + 1 < starts.count else { return nil }
        for index in starts[name.count]..<starts[name.count + 1] where equals(name, index) { return targets[index] }
        return nil
    }

    private func equals(_ name: Span<UInt8>, _ index: Int) -> Bool {
        let other = names.span.extracting(nameStarts[index]..<nameStarts[index] + name.count)
        return unsafe name.withUnsafeBytes { name in
            unsafe other.withUnsafeBytes { other in
                guard let left = name.baseAddress, let right = other.baseAddress else { return true }
                return unsafe memcmp(left, right, name.count) == 0
            }
        }
    }

    /// The error for a full name that no method has.
    func error(for fullName: String) -> ServiceError {
        let interface = fullName.utf8.lastIndex(of: ASCII.dot).map { String(fullName[..<$0]) } ?? ""
        return interfaces.contains(interface) ? .methodNotFound(fullName) : .interfaceNotFound(interface)
    }
}

/// The interface `org.varlink.service`, which every service answers.
enum ServiceInterface {
    static let name = "org.varlink.service"

    static let description = InterfaceDescription(
        name: name,
        definition: definition,
        methods: ["GetInfo", "GetInterfaceDescription"]
    )
}

/// The answer of a session to a call that the service does not get.
enum ServiceAnswer {
    case reply(any JSONEncodable)
    case error(any ReplyError)
    /// The error that the session has for all calls.
    case refusal
}

extension ServiceDescription {
    /// Answers a call of a method of `org.varlink.service`, with parameters in an object that was entered.
    func answer(_ method: String, _ parameters: inout JSONReader) -> ServiceAnswer {
        do throws(InvalidParameter) {
            guard method != "GetInfo" else {
                try parameters.members { _ in false }
                return .reply(self)
            }
            var interface = JSONMember<String>("interface")
            try parameters.members { interface.read(&$0) }
            let name = try interface.required
            let description = interfaces.first { $0.name == name }
            return description.map { .reply($0) } ?? .error(ServiceError.interfaceNotFound(name))
        } catch {
            return .error(error)
        }
    }
}

extension ServiceDescription: JSONEncodable {
    /// Writes the reply of `org.varlink.service.GetInfo`.
    public func encode(into writer: inout JSONWriter) {
        writer.member("vendor", vendor)
        writer.member("product", product)
        writer.member("version", version)
        writer.member("url", url)
        writer.member("interfaces", interfaces.map(\.name))
    }
}

extension InterfaceDescription: JSONEncodable {
    /// Writes the reply of `org.varlink.service.GetInterfaceDescription`.
    public func encode(into writer: inout JSONWriter) { writer.member("description", definition) }
}

extension ServiceInterface {
    /// The definition of UAPI.20.
    private static let definition = """
        # What every Varlink service answers about itself.
        interface org.varlink.service

        # The service, and the interfaces that it implements.
        method GetInfo() -> (
          vendor: string,
          product: string,
          version: string,
          url: string,
          interfaces: []string
        )

        # The definition of one of these interfaces.
        method GetInterfaceDescription(interface: string) -> (description: string)

        # The service has no interface of this name.
        error InterfaceNotFound (interface: string)

        # The interface has no method of this name.
        error MethodNotFound (method: string)

        # The interface has the method, the service does not implement it.
        error MethodNotImplemented (method: string)

        # The parameter is missing, unknown, of the wrong type or out of range.
        error InvalidParameter (parameter: string)

        # The client may not do this.
        error PermissionDenied ()

        # The method has to be called with more.
        error ExpectedMore ()

        # The method has to be called with upgrade.
        error ExpectedUpgrade ()

        """
}
