import System
import Varlink

/// The interface `io.systemd.service`, which systemd's own daemons have, so that `varlinkctl` can ask whether the daemon
/// is alive and change what it logs.
enum LogLevelService {
    static let ping = "Ping"
    static let setLogLevel = "SetLogLevel"

    static let description = InterfaceDescription(
        name: "io.systemd.service",
        definition: definition,
        methods: [ping, setLogLevel]
    )

    private static let definition = """
        # What systemd's services have in common.
        interface io.systemd.service

        # The reply shows that the service is alive.
        method Ping() -> ()

        # Log this level and those below, as syslog(3) numbers them: from 0 to 7, where
        # 3 is error, 4 warning, 5 notice, 6 info, and 7 debug, which names keys. It
        # counts until the service is started again. Only the service's user and root
        # may set it.
        method SetLogLevel(level: int) -> ()

        """

    /// Reads the parameter of `SetLogLevel`.
    ///
    /// - Throws: its name, if it is missing or not a level.
    static func level(from parameters: inout JSONReader) throws(InvalidParameter) -> Log.Level {
        var level = JSONMember<Int64>("level")
        try parameters.members { level.read(&$0) }
        let number = try level.required
        // The daemon writes no line that is more urgent than an error.
        guard (0...7).contains(number), let level = Log.Level(rawValue: max(3, Int32(number))) else {
            throw InvalidParameter("level")
        }
        return level
    }
}
