import TestSupport
import Testing

@Suite("DaemonProcess starts, kills and restarts daemons")
struct DaemonProcessTests {
    private let information = #"{"method":"org.varlink.service.GetInfo"}"#

    @Test("a daemon answers once its DaemonProcess is made, reports its stop, and ends")
    func life() throws {
        let daemon = try DaemonProcess()
        #expect(try daemon.connect().exchange(information).contains("io.countdownd"))
        daemon.process.send(signal: 15)
        try daemon.notification("STOPPING=1")
        #expect(try daemon.process.wait() == .exited(code: 0))
    }

    @Test("after a kill, another daemon starts in the same directory")
    func succession() throws {
        let first = try DaemonProcess()
        #expect(try first.kill() == .killed(signal: 9))
        let second = try DaemonProcess(in: first.directory)
        #expect(try second.connect().exchange(information).contains("io.countdownd"))
    }

    @Test("a daemon serves a socket that was passed to it")
    func activation() throws {
        let directory = try TemporaryDirectory()
        let socket = try ListeningSocket(path: directory.path(of: "handed"))
        let daemon = try DaemonProcess(in: directory, listening: [socket.descriptor])
        #expect(try RawConnection(to: socket.path).exchange(information).contains("io.countdownd"))
        #expect(throws: SystemCallFailure.self) { try daemon.connect() }
    }

    @Test("if a daemon refuses to start, the error comes at once and has its log")
    func refusal() throws {
        let error = try #require(throws: DaemonProcess.NotReady.self) {
            try DaemonProcess(arguments: ["--no-such-option"])
        }
        #expect(error.log.contains("--no-such-option"))
    }
}
