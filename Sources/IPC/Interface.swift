package import Varlink

/// The Varlink interface `io.countdownd`.
package enum Interface {
    /// The part before the last dot in the names of methods and errors.
    package static let name = "io.countdownd"

    /// The text of the definition, as `GetInterfaceDescription` returns it. Its comments are the contract.
    package static let definition = String(decoding: PackageResources.io_countdownd_varlink, as: UTF8.self)

    /// The longest call that the daemon accepts, in bytes without the NUL at its end.
    package static let callLimit = 256 << 10

    /// Every method, in the order of the definition.
    package static let methods: [any Method.Type] = [
        Start.self, StartAll.self, Get.self, List.self, Cancel.self, Finish.self, Pause.self, Resume.self, Adjust.self,
        Wait.self,
        Watch.self, GetStatus.self,
    ]

    /// The interface as a Varlink service describes it.
    package static let description = InterfaceDescription(
        name: name,
        definition: definition,
        methods: methods.map { $0.name }
    )
}

extension Method {
    /// The name on the wire: `io.countdownd.Start`.
    package static var fullName: String { "\(Interface.name).\(name)" }
}
