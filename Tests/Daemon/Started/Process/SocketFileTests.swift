import Foundation
import Glibc
import IPC
import TestSupport
import Testing
import Varlink

@Suite("The socket file")
struct SocketFileTests {
    private let directory: TemporaryDirectory
    private var socket: String { directory.path(of: "socket") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// The log of a daemon that did not become ready.
    private func refusal(_ make: () throws -> DaemonProcess) throws -> String {
        let error = try #require(throws: DaemonProcess.NotReady.self) { _ = try make() }
        let ended = try #require(error.reason as? NotificationSocket.Ended)
        #expect("\(ended)".contains("exited(code: 69)"), "\(ended)")
        return error.log
    }

    private func mode(of path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    private func setMode(_ mode: Int, of path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test("its directory is made if it is missing, and only the user can use both")
    func modes() throws {
        let path = directory.path(of: "run/socket")
        let daemon = try DaemonProcess(in: directory, arguments: ["--socket", path])
        _ = try Caller(on: RawConnection(to: path)).call(GetStatus())
        #expect(try mode(of: directory.path(of: "run")) == 0o700)
        #expect(try mode(of: path) == 0o600)
        try daemon.terminate()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(FileManager.default.fileExists(atPath: directory.path(of: "run")))
    }

    @Test("a socket that a killed daemon left behind is replaced")
    func stale() throws {
        let first = try DaemonProcess(in: directory)
        try first.kill()
        #expect(FileManager.default.fileExists(atPath: socket))
        let second = try DaemonProcess(in: directory)
        _ = try Caller(of: second).call(GetStatus())
    }

    @Test("the socket of a running daemon is not taken, and that daemon notices nothing")
    func inUse() throws {
        let living = try DaemonProcess(in: directory)
        let bystander = try Bystander(of: living)
        let log = try refusal {
            try DaemonProcess(in: TemporaryDirectory(), arguments: ["--socket", socket])
        }
        #expect(log.contains("another process answers on \(socket)"))
        try bystander.noticesNothing()
    }

    @Test("the socket of another running program is not taken either")
    func others() throws {
        let listener = try ListeningSocket(path: socket)
        #expect(try refusal { try DaemonProcess(in: directory) }.contains("answers on \(socket)"))
        _ = try RawConnection(to: socket)
        _ = try listener.accept()
    }

    @Test("a file that is not a socket is left alone", arguments: ["file", "directory", "link"])
    func noSocket(_ kind: String) throws {
        switch kind {
        case "file": try directory.write("precious", to: "socket")
        case "directory": try FileManager.default.createDirectory(atPath: socket, withIntermediateDirectories: false)
        default:
            try directory.write("precious", to: "target")
            try FileManager.default.createSymbolicLink(
                atPath: socket,
                withDestinationPath: directory.path(of: "target")
            )
        }
        let before = try FileManager.default.attributesOfItem(atPath: socket)[.systemFileNumber] as? Int
        #expect(try refusal { try DaemonProcess(in: directory) }.contains("\(socket) is not a socket"))
        #expect(try FileManager.default.attributesOfItem(atPath: socket)[.systemFileNumber] as? Int == before)
        if kind == "file" { #expect(try String(contentsOfFile: socket, encoding: .utf8) == "precious") }
    }

    @Test("another program's socket at the path is not removed when the daemon stops")
    func replacedMeanwhile() throws {
        let daemon = try DaemonProcess(in: directory)
        // In one step: if the path were free for a moment, the daemon might listen there again.
        let other = try ListeningSocket(path: directory.path(of: "other"))
        try #require(unsafe rename(directory.path(of: "other"), socket) == 0)
        try daemon.terminate()
        _ = try RawConnection(to: socket)
        _ = try other.accept()
    }

    @Test("a socket that is removed is made again, and connected clients notice nothing")
    func removed() throws {
        let path = directory.path(of: "run/socket")
        let daemon = try DaemonProcess(in: directory, arguments: ["--socket", path])
        let caller = try Caller(on: RawConnection(to: path))
        _ = try caller.call(Start(key: "tea"))
        for _ in 1...2 {
            try FileManager.default.removeItem(atPath: path)
            // The daemon notices in the turn of this call at the latest.
            _ = try caller.call(GetStatus())
            let other = try Caller(on: RawConnection(to: path))
            #expect(try other.call(Get(key: "tea")).countdown.state == .running)
        }
        #expect(daemon.standardError.contains("\(path) was removed; listening there again"))
        try daemon.terminate()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("if another program's socket is at the path, a removed socket is not made again, and that is logged")
    func replacedByAnother() throws {
        let daemon = try DaemonProcess(in: directory)
        let caller = try Caller(of: daemon)
        let other = try ListeningSocket(path: directory.path(of: "other"))
        #expect(unsafe rename(other.path, socket) == 0)
        _ = try caller.call(GetStatus())
        #expect(daemon.standardError.contains("another process answers on \(socket)"))
        _ = try RawConnection(to: socket)
        _ = try other.accept()
    }

    @Test("a directory in which everybody can write is refused")
    func openDirectory() throws {
        let open = directory.path(of: "open")
        try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
        try setMode(0o777, of: open)
        let log = try refusal { try DaemonProcess(in: directory, arguments: ["--socket", "\(open)/socket"]) }
        #expect(log.contains("\(open) can be written by others (mode 0777)"))
    }

    @Test("a link to a directory works as the directory")
    func linkedDirectory() throws {
        let (target, link) = (directory.path(of: "target"), directory.path(of: "link"))
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        let daemon = try DaemonProcess(in: directory, arguments: ["--socket", "\(link)/socket"])
        _ = try Caller(on: RawConnection(to: "\(target)/socket")).call(GetStatus())
        try daemon.terminate()
    }

    @Test("if the directory cannot be made, the error says so")
    func noDirectory() throws {
        let path = directory.path(of: "missing/too/socket")
        let log = try refusal { try DaemonProcess(in: directory, arguments: ["--socket", path]) }
        #expect(log.contains("cannot listen on \(directory.path(of: "missing/too"))"))
        #expect(log.contains("No such file or directory"))
    }

    @Test("a path that is too long for a socket is refused with the limit")
    func tooLong() throws {
        let path = "/tmp/" + String(repeating: "x", count: 200)
        let log = try refusal { try DaemonProcess(in: directory, arguments: ["--socket", path]) }
        #expect(log.contains("205 bytes") && log.contains("107"))
    }

    @Test("without an option it lies in the runtime directory, which must be there for its user alone")
    func runtimeDirectory() throws {
        let runtime = directory.path(of: "runtime")
        try FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: false)
        try setMode(0o700, of: runtime)
        let notifications = try NotificationSocket(path: directory.path(of: "notify"))
        let environment = ["XDG_RUNTIME_DIR": runtime, "NOTIFY_SOCKET": directory.path(of: "notify")]
        let command = ["--state-directory", directory.path(of: "state")]
        let daemon = try RunningCommand(
            command,
            executable: BuiltProduct.path(of: "countdownd"),
            environment: environment
        )
        try notifications.await("READY=1", from: daemon.process)
        _ = try Caller(on: RawConnection(to: "\(runtime)/countdownd/io.countdownd")).call(GetStatus())
        #expect(try mode(of: "\(runtime)/countdownd") == 0o700)
        daemon.process.send(signal: SIGTERM)
        #expect(try daemon.process.wait() == .exited(code: 0))

        try setMode(0o777, of: runtime)
        let refused = try RunningCommand(
            command,
            executable: BuiltProduct.path(of: "countdownd"),
            environment: environment
        )
        let run = try refused.finish()
        #expect(run.exitCode == 69)
        #expect(run.standardError.contains(runtime))
    }

    @Test("a second daemon upon the same state is refused, names the first one, and leaves no socket")
    func heldState() throws {
        let first = try DaemonProcess(in: directory)
        let path = directory.path(of: "second")
        let log = try refusal {
            try DaemonProcess(
                in: TemporaryDirectory(),
                arguments: ["--socket", path, "--state-directory", first.stateDirectory]
            )
        }
        #expect(
            log.contains("\(first.stateDirectory) is held by another countdownd: process \(first.process.identifier)")
        )
        #expect(!FileManager.default.fileExists(atPath: path))
        _ = try Caller(of: first).call(GetStatus())
    }
}

@Suite("Sockets that a service manager passes")
struct ActivationTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("of several sockets the one named varlink is served, and no other")
    func named() throws {
        let other = try ListeningSocket(path: directory.path(of: "other"))
        let varlink = try ListeningSocket(path: directory.path(of: "varlink"))
        let daemon = try DaemonProcess(
            in: directory,
            environment: ["LISTEN_FDNAMES": "other:varlink"],
            listening: [other.descriptor, varlink.descriptor]
        )
        _ = try Caller(on: RawConnection(to: varlink.path)).call(GetStatus())
        #expect(throws: SystemCallFailure.self) { try daemon.connect() }
        try daemon.terminate()
        #expect(FileManager.default.fileExists(atPath: varlink.path), "its file is the service manager's")
    }

    @Test("a single socket is served whatever its name, and a client from before the daemon's start is answered")
    func only() throws {
        let socket = try ListeningSocket(path: directory.path(of: "handed"))
        let early = try RawConnection(to: socket.path)
        try early.send(message: #"{"method":"io.countdownd.GetStatus"}"#)
        let daemon = try DaemonProcess(
            in: directory,
            environment: ["LISTEN_FDNAMES": "connection"],
            listening: [socket.descriptor]
        )
        #expect(try early.message().contains(#""connections":1"#))
        try daemon.terminate()
        // The socket is still there for the next one.
        _ = try RawConnection(to: socket.path)
    }

    @Test("if none of them can be served, the error says so, and the daemon listens nowhere else")
    func unusable() throws {
        let file = try #require(FileHandle(forReadingAtPath: "/dev/null"))
        let error = try #require(throws: DaemonProcess.NotReady.self) {
            _ = try DaemonProcess(in: directory, listening: [file.fileDescriptor])
        }
        #expect("\(error.reason)".contains("exited(code: 78)"))
        #expect(error.log.contains("none of the 1 descriptors that were passed is a listening Unix stream socket"))
        #expect(!FileManager.default.fileExists(atPath: directory.path(of: "socket")))
    }

    @Test("of several sockets without the right name none is served")
    func ambiguous() throws {
        let sockets = try ["a", "b"].map { try ListeningSocket(path: directory.path(of: $0)) }
        let error = try #require(throws: DaemonProcess.NotReady.self) {
            _ = try DaemonProcess(
                in: directory,
                environment: ["LISTEN_FDNAMES": "a:b"],
                listening: sockets.map(\.descriptor)
            )
        }
        #expect("\(error.reason)".contains("exited(code: 78)"))
        #expect(error.log.contains("2 listening sockets (a, b) were passed, and one with the name varlink is expected"))
    }

    @Test("two sockets with the right name are refused, because a client of the second one would wait forever")
    func twice() throws {
        let sockets = try ["a", "b"].map { try ListeningSocket(path: directory.path(of: $0)) }
        let error = try #require(throws: DaemonProcess.NotReady.self) {
            _ = try DaemonProcess(
                in: directory,
                environment: ["LISTEN_FDNAMES": "varlink:varlink"],
                listening: sockets.map(\.descriptor)
            )
        }
        #expect("\(error.reason)".contains("exited(code: 78)"))
        #expect(error.log.contains("2 listening sockets with the name varlink were passed"))
    }
}
