import TestSupport
import Testing

@Suite("A daemon that tests start")
struct DaemonProcessTests {
    private let information = #"{"method":"org.varlink.service.GetInfo"}"#

    @Test("it answers once it is made, says when it stops, and ends")
    func life() throws {
        let daemon = try DaemonProcess()
        #expect(try daemon.connect().exchange(information).contains("io.countdownd"))
        daemon.process.send(signal: 15)
        try daemon.notification("STOPPING=1")
        #expect(try daemon.process.wait() == .exited(code: 0))
    }

    @Test("one that was killed is followed by another in its place")
    func succession() throws {
        let first = try DaemonProcess()
        #expect(try first.kill() == .killed(signal: 9))
        let second = try DaemonProcess(in: first.directory)
        #expect(try second.connect().exchange(information).contains("io.countdownd"))
    }

    @Test("it serves a socket that was handed over to it")
    func activation() throws {
        let directory = try TemporaryDirectory()
        let socket = try ListeningSocket(path: directory.path(of: "handed"))
        let daemon = try DaemonProcess(in: directory, listening: [socket.descriptor])
        #expect(try RawConnection(to: socket.path).exchange(information).contains("io.countdownd"))
        #expect(throws: SystemFailure.self) { try daemon.connect() }
    }

    @Test("one that refuses to start fails at once, and what it said is told")
    func refusal() throws {
        let error = try #require(throws: DaemonProcess.NotReady.self) {
            try DaemonProcess(arguments: ["--no-such-option"])
        }
        #expect(error.log.contains("--no-such-option"))
    }
}
