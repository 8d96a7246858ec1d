import IPC
import TestSupport
import Testing
import Varlink

@Suite("A daemon without free descriptors")
struct FullDescriptorsTests {
    private let daemon: DaemonProcess

    init() throws {
        let few = ["/bin/sh", "-c", #"ulimit -S -n 32; exec "$@""#, "sh"]
        daemon = try DaemonProcess(starting: few, in: TemporaryDirectory())
        try daemon.awaitReadiness()
    }

    @Test("countdowns end, even the first one of the daemon")
    func ends() throws {
        let connections = try (0..<40).map { _ in try daemon.connect() }
        let caller = Caller(on: connections[0])
        _ = try caller.call(Start(key: "tea", durationUSec: .milliseconds(100)))
        #expect(try caller.call(Wait(key: "tea")).countdown.state == .finished)
    }

    @Test("waiting connections are accepted when the limit is raised, even if no client has left")
    func acceptsAgain() throws {
        let connections = try (0..<40).map { _ in try daemon.connect() }
        #expect(try Caller(on: connections[0]).call(GetStatus()).connections < 40)
        try daemon.process.limitDescriptors(to: 1_024)
        #expect(try Caller(on: connections[39]).call(GetStatus()).connections == 40)
    }
}
