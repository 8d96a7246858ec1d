public import Varlink

/// The interface `io.countdownd`: what the daemon serves and what its clients call.
public enum Interface {
    /// The name before the last dot of every method and error of this interface.
    public static let name = "io.countdownd"

    /// The text of the definition, as `GetInterfaceDescription` answers it. Its comments are the semantics.
    public static let definition = String(decoding: PackageResources.io_countdownd_varlink, as: UTF8.self)

    /// The longest call that a daemon takes, in bytes without the NUL behind it.
    public static let callLimit = 256 << 10

    /// Every method, in the order of the definition.
    public static let methods: [any Method.Type] = [
        Start.self, Get.self, List.self, Cancel.self, Finish.self, Pause.self, Resume.self, Adjust.self, Wait.self,
        Watch.self, GetStatus.self,
    ]

    /// The interface as a service lists it.
    public static let description = InterfaceDescription(
        name: name,
        definition: definition,
        methods: methods.map { $0.name }
    )
}
