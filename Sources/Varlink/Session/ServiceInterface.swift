/// The interface `org.varlink.service`, which every service answers.
enum ServiceInterface {
    static let name = "org.varlink.service"

    static let description = InterfaceDescription(
        name: name,
        definition: definition,
        methods: ["GetInfo", "GetInterfaceDescription"]
    )

    /// Carries out the call of a method of the interface, which is in progress in the session.
    static func answer(_ call: Call, in session: inout ServerSession) {
        do {
            switch call.name {
            case "GetInfo": try answerInfo(call.parameters, in: &session)
            default: try answerDescription(call.parameters, in: &session)
            }
        } catch {
            session.fail(error)
        }
    }

    private static func answerInfo(
        _ parameters: JSONObject,
        in session: inout ServerSession
    ) throws(InvalidParameter) {
        try parameters.allowOnly([])
        let service = session.service
        session.reply { writer in
            writer.member("vendor", service.vendor)
            writer.member("product", service.product)
            writer.member("version", service.version)
            writer.member("url", service.url)
            writer.member("interfaces", service.interfaces.map(\.name))
        }
    }

    private static func answerDescription(
        _ parameters: JSONObject,
        in session: inout ServerSession
    ) throws(InvalidParameter) {
        try parameters.allowOnly(["interface"])
        let name = try parameters.string("interface")
        guard let interface = session.service.interfaces.first(where: { $0.name == name }) else {
            return session.fail(ServiceError.interfaceNotFound(name))
        }
        session.reply { $0.member("description", interface.definition) }
    }
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
