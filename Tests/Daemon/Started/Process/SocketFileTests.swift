import Foundation
import Glibc
import IPC
import TestSupport
import Testing
import Varlink

/// `ListenerTests` say which sockets and directories are refused.
@Suite("The socket file")
final class SocketFileTests: DirectorySuite {
    private var socket: String { directory.path(of: "socket") }

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

    @Test("without inotify the daemon looks by itself whether its socket is there, says so once, and makes it again")
    func removedWithoutNotice() throws {
        let script = #"echo 0 > /proc/sys/user/max_inotify_instances && exec "$0" "$@""#
        let launcher = ["/usr/bin/unshare", "--user", "--map-root-user", "/bin/sh", "-c", script]
        let daemon = try DaemonProcess(starting: launcher, in: directory)
        try daemon.awaitReadiness()
        let caller = try Caller(of: daemon)
        for _ in 1...2 {
            try FileManager.default.removeItem(atPath: socket)
            try waitUntil("the socket to be made again") { (try? daemon.connect()) != nil }
        }
        _ = try caller.call(GetStatus())
        let lines = daemon.standardError.split(separator: "\n")
        #expect(lines.filter { $0.contains("looks once a second whether its socket was removed") }.count == 1)
        #expect(lines.filter { $0.contains("\(socket) was removed; listening there again") }.count == 2)
        #expect(try daemon.terminate() == .exited(code: 0))
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

    @Test("a path at which nothing can listen is refused: its directory cannot be made, or it is too long")
    func noSocketPossible() throws {
        let (missing, long) = (directory.path(of: "missing/too"), "/tmp/" + String(repeating: "x", count: 200))
        for (path, words) in [
            ("\(missing)/socket", ["cannot listen on \(missing)", "No such file or directory"]),
            (long, ["205 bytes", "107"]),
        ] {
            let log = try refusal { try DaemonProcess(in: directory, arguments: ["--socket", path]) }
            #expect(words.allSatisfy(log.contains), "\(log)")
        }
    }

    @Test("without an option it lies in the runtime directory, which must be there for its user alone")
    func runtimeDirectory() throws {
        let runtime = directory.path(of: "runtime")
        try FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: false)
        try setMode(0o700, of: runtime)
        let notifications = try NotificationSocket(path: directory.path(of: "notify"))
        let environment = ["XDG_RUNTIME_DIR": runtime, "NOTIFY_SOCKET": directory.path(of: "notify")]
        func start() throws -> RunningCommand {
            let arguments = ["--state-directory", directory.path(of: "state")]
            let executable = try BuiltProduct.path(of: "countdownd")
            return try RunningCommand(arguments, executable: executable, environment: environment)
        }
        let daemon = try start()
        try notifications.await("READY=1", from: daemon.process)
        _ = try Caller(on: RawConnection(to: "\(runtime)/countdownd/io.countdownd")).call(GetStatus())
        #expect(try mode(of: "\(runtime)/countdownd") == 0o700)
        daemon.process.send(signal: SIGTERM)
        #expect(try daemon.process.wait() == .exited(code: 0))

        try setMode(0o777, of: runtime)
        let run = try start().finish()
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
        let holder = "process \(first.process.identifier) on \(ProcessInfo.processInfo.hostName)"
        #expect(log == "countdownd: \(first.stateDirectory) is held by another countdownd: \(holder)\n")
        #expect(!FileManager.default.fileExists(atPath: path))
        _ = try Caller(of: first).call(GetStatus())
    }
}

@Suite("Sockets that a service manager passes")
final class ActivationTests: DirectorySuite {
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

    /// Passes descriptors with these names to a daemon, which must refuse them and listen nowhere else.
    private func expectRefusal(of descriptors: [Int32], named names: String, _ sentence: String) throws {
        let error = try #require(throws: DaemonProcess.NotReady.self) {
            _ = try DaemonProcess(in: directory, environment: ["LISTEN_FDNAMES": names], listening: descriptors)
        }
        #expect("\(error.reason)".contains("exited(code: 78)"))
        #expect(error.log.contains(sentence))
        #expect(!FileManager.default.fileExists(atPath: directory.path(of: "socket")))
    }

    @Test("if none of them can be served, the error says so, and the daemon listens nowhere else")
    func unusable() throws {
        let file = try #require(FileHandle(forReadingAtPath: "/dev/null"))
        let sentence = "none of the 1 descriptors that were passed is a listening Unix stream socket"
        try expectRefusal(of: [file.fileDescriptor], named: "varlink", sentence)
    }

    @Test(
        "several sockets are refused unless one has the right name: a client of another one would wait forever",
        arguments: [
            ("a:b", "2 listening sockets (a, b) were passed, and one with the name varlink is expected"),
            ("varlink:varlink", "2 listening sockets with the name varlink were passed"),
        ]
    )
    func ambiguous(names: String, sentence: String) throws {
        let sockets = try ["a", "b"].map { try ListeningSocket(path: directory.path(of: $0)) }
        try expectRefusal(of: sockets.map(\.descriptor), named: names, sentence)
    }
}
