import IPC
import TestSupport
import Testing
import Varlink

@Suite("Descriptors that are used up")
struct FullDescriptorsTests {
    private let daemon: DaemonProcess

    init() throws {
        let few = ["/bin/sh", "-c", #"ulimit -S -n 32; exec "$@""#, "sh"]
        daemon = try DaemonProcess(starting: few, in: TemporaryDirectory())
        try daemon.awaitReadiness()
    }

    @Test("keep no countdown from ending, though none has been waited for before")
    func ends() throws {
        let connections = try (0..<40).map { _ in try daemon.connect() }
        let caller = Caller(on: connections[0])
        _ = try caller.call(Start(key: "tea", durationUSec: .milliseconds(100)))
        #expect(try caller.call(Wait(key: "tea")).countdown.state == .finished)
    }

    @Test("keep no connection waiting once there are others, though no peer has gone")
    func acceptsAgain() throws {
        let connections = try (0..<40).map { _ in try daemon.connect() }
        #expect(try Caller(on: connections[0]).call(GetStatus()).connections < 40)
        try daemon.process.limitDescriptors(to: 1_024)
        #expect(try Caller(on: connections[39]).call(GetStatus()).connections == 40)
    }
}
