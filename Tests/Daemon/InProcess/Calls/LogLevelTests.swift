import Glibc
import TestSupport
import Testing

@testable import countdownd

@Suite("The interface io.systemd.service")
struct LogLevelTests {
    private let lines = Lines()
    private let daemon: SmallDaemon
    private let client: RawConnection

    init() throws {
        var options = Options()
        options.access = .socket
        daemon = try SmallDaemon(log: lines.log, options: options)
        client = try daemon.connect()
    }

    private func setLevel(_ parameters: String) -> String {
        #"{"method":"io.systemd.service.SetLogLevel","parameters":\#(parameters)}"#
    }

    /// Breaks the protocol, which is logged as a warning, and waits until the daemon has closed the connection.
    private func breakProtocol() throws {
        let connection = try daemon.connect()
        try connection.send(message: "tea")
        #expect(try connection.nextMessage() == nil)
    }

    @Test("Ping is answered, with a description of the interface")
    func ping() throws {
        #expect(try client.exchange(#"{"method":"io.systemd.service.Ping"}"#) == "{}")
        let description =
            #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"io.systemd.service"}}"#
        #expect(try client.exchange(description).contains(#"method Ping() -> ()\n"#))
        let other = #"{"method":"io.systemd.service.GetEnvironment"}"#
        #expect(try client.exchange(other).contains("org.varlink.service.MethodNotFound"))
    }

    @Test("from SetLogLevel on, lines of the new level are logged")
    func level() throws {
        for (level, count) in [("7", 1), ("3", 1), ("4", 2), ("0", 2)] {
            #expect(try client.exchange(setLevel(#"{"level":\#(level)}"#)) == "{}")
            try breakProtocol()
            #expect(lines.all.count { $0.contains("disconnecting a client that broke the protocol") } == count)
        }
    }

    @Test(
        "another user may ask whether the daemon is alive, and may not let it log keys",
        .enabled(if: geteuid() == 0, "only root can connect as somebody else")
    )
    func stranger() throws {
        try daemon.letAllIn()
        let stranger = try daemon.connect(as: 65_534)
        #expect(try stranger.exchange(#"{"method":"io.systemd.service.Ping"}"#) == "{}")
        let denied = #"{"error":"org.varlink.service.PermissionDenied"}"#
        #expect(try stranger.exchange(setLevel(#"{"level":7}"#)) == denied)
    }
}
