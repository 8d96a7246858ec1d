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

    @Test("further clients are told so, and are served when the limit is raised, even if no client has left")
    func refuses() throws {
        let connections = try (0..<40).map { _ in try daemon.connect() }
        let served = Caller(on: connections[0])
        let last = Caller(on: connections[39])
        let refusal = #expect(throws: CountdownError.self) { try last.call(GetStatus()) }
        guard case .limitReached("connections", let maximum) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(maximum < 40)
        #expect(try served.call(GetStatus()).connections >= Int(maximum))
        try daemon.process.limitDescriptors(to: 1_024)
        let status = try Caller(of: daemon).call(GetStatus())
        #expect(status.connections > Int(maximum))
    }
}
