// Made by varlink-generate from org.varlink.service.varlink; change that file instead.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Varlink

/// The Varlink interface `org.varlink.service`.
///
/// What every Varlink service answers about itself.
public enum Service {
    /// The part before the last dot in the names of methods and errors.
    public static let name = "org.varlink.service"

    /// Every method, in the order of the definition.
    public static let methods: [any Method.Type] = [Service.GetInfo.self, Service.GetInterfaceDescription.self]

    /// The interface as a service describes it.
    public static let description = InterfaceDescription(
        name: name,
        definition: definition,
        methods: methods.map { $0.name }
    )

    /// The text of the definition.
    public static let definition = """
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

extension Service {
    /// The service, and the interfaces that it implements.
    public struct GetInfo: Method {
        /// The name of the interface.
        public static var interface: String { Service.name }
        /// The name within the interface.
        public static let name = "GetInfo"

        /// The value.
        public init() {}

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {}

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            try reader.members { _ in false }
        }
    }
}

extension Service.GetInfo {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var vendor: String
        public var product: String
        public var version: String
        public var url: String
        public var interfaces: [String]

        /// The value with these members.
        public init(vendor: String, product: String, version: String, url: String, interfaces: [String]) {
            self.vendor = vendor
            self.product = product
            self.version = version
            self.url = url
            self.interfaces = interfaces
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("vendor", vendor)
            writer.member("product", product)
            writer.member("version", version)
            writer.member("url", url)
            writer.member("interfaces", interfaces)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var vendor = JSONMember<String>("vendor")
            var product = JSONMember<String>("product")
            var version = JSONMember<String>("version")
            var url = JSONMember<String>("url")
            var interfaces = JSONMember<[String]>("interfaces")
            reader.knownMembers {
                vendor.read(&$0) || product.read(&$0) || version.read(&$0) || url.read(&$0) || interfaces.read(&$0)
            }
            self.vendor = try vendor.required
            self.product = try product.required
            self.version = try version.required
            self.url = try url.required
            self.interfaces = try interfaces.required
        }
    }
}

extension Service {
    /// The definition of one of these interfaces.
    public struct GetInterfaceDescription: Method {
        /// The name of the interface.
        public static var interface: String { Service.name }
        /// The name within the interface.
        public static let name = "GetInterfaceDescription"

        public var interface: String

        /// The value with these members.
        public init(interface: String) {
            self.interface = interface
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("interface", interface)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var interface = JSONMember<String>("interface")
            try reader.members { interface.read(&$0) }
            self.interface = try interface.required
        }
    }
}

extension Service.GetInterfaceDescription {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var description: String

        /// The value with these members.
        public init(description: String) {
            self.description = description
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("description", description)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var description = JSONMember<String>("description")
            reader.knownMembers { description.read(&$0) }
            self.description = try description.required
        }
    }
}

extension Service {
    /// An error of the interface `org.varlink.service`.
    public enum Failure: InterfaceError {
        /// The service has no interface of this name.
        case interfaceNotFound(interface: String)
        /// The interface has no method of this name.
        case methodNotFound(method: String)
        /// The interface has the method, the service does not implement it.
        case methodNotImplemented(method: String)
        /// The parameter is missing, unknown, of the wrong type or out of range.
        case invalidParameter(parameter: String)
        /// The client may not do this.
        case permissionDenied
        /// The method has to be called with more.
        case expectedMore
        /// The method has to be called with upgrade.
        case expectedUpgrade

        /// The names of the errors on the wire, in the order of the definition.
        public enum WireName: String, Sendable, CaseIterable {
            case interfaceNotFound = "org.varlink.service.InterfaceNotFound"
            case methodNotFound = "org.varlink.service.MethodNotFound"
            case methodNotImplemented = "org.varlink.service.MethodNotImplemented"
            case invalidParameter = "org.varlink.service.InvalidParameter"
            case permissionDenied = "org.varlink.service.PermissionDenied"
            case expectedMore = "org.varlink.service.ExpectedMore"
            case expectedUpgrade = "org.varlink.service.ExpectedUpgrade"
        }

        /// The name of the error.
        public var name: WireName {
            switch self {
            case .interfaceNotFound: .interfaceNotFound
            case .methodNotFound: .methodNotFound
            case .methodNotImplemented: .methodNotImplemented
            case .invalidParameter: .invalidParameter
            case .permissionDenied: .permissionDenied
            case .expectedMore: .expectedMore
            case .expectedUpgrade: .expectedUpgrade
            }
        }

        /// Writes the parameters of the error; those that are nil are left out.
        public func encodeParameters(into writer: inout JSONWriter) {
            switch self {
            case .interfaceNotFound(let interface):
                writer.member("interface", interface)
            case .methodNotFound(let method):
                writer.member("method", method)
            case .methodNotImplemented(let method):
                writer.member("method", method)
            case .invalidParameter(let parameter):
                writer.member("parameter", parameter)
            case .permissionDenied: break
            case .expectedMore: break
            case .expectedUpgrade: break
            }
        }

        /// Reads the parameters of the error with this name. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(_ name: WireName, from reader: inout JSONReader) throws(InvalidParameter) {
            switch name {
            case .interfaceNotFound: self = .interfaceNotFound(interface: try reader.member("interface"))
            case .methodNotFound: self = .methodNotFound(method: try reader.member("method"))
            case .methodNotImplemented: self = .methodNotImplemented(method: try reader.member("method"))
            case .invalidParameter: self = .invalidParameter(parameter: try reader.member("parameter"))
            case .permissionDenied: self = .permissionDenied
            case .expectedMore: self = .expectedMore
            case .expectedUpgrade: self = .expectedUpgrade
            }
            reader.skipMembers()
        }
    }
}
