import BackendContract
import FleetWire
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("The command line of countdownd-redis", .serialized)
struct CommandLineTests {
    private func run(_ arguments: [String]) throws -> (code: Int32, output: String) {
        let program = try Program(try BridgeProcess.executable(), arguments)
        let code = try program.wait()
        return (code, program.lines.joined(separator: "\n"))
    }

    @Test("a URL on the command line is refused, and not repeated")
    func url() throws {
        let (code, output) = try run(["redis://:SECRET@h"])
        #expect(code == 64)
        #expect(output == "countdownd-redis: unexpected argument: use --url-file FILE; see --help")
        #expect(try run(["--url-file", "x"]) == (64, "countdownd-redis: --listen is missing; see --help"))
        #expect(try run(["--listen", "x"]) == (64, "countdownd-redis: --url-file is missing; see --help"))
    }

    @Test("files that cannot be used are named")
    func files() throws {
        let folder = try TemporaryDirectory()
        let missing = folder.path(of: "none")
        #expect(
            try run(["--url-file", missing, "--listen", folder.path(of: "s")])
                == (78, "countdownd-redis: cannot read \(missing): No such file or directory")
        )
        let invalid = try folder.write("redis://u:SECRET@h:x", to: "url")
        #expect(
            try run(["--url-file", invalid, "--listen", folder.path(of: "s")])
                == (78, "countdownd-redis: \(invalid): invalid port: use a number from 1 to 65535")
        )
        let valid = try folder.write("redis://127.0.0.1:1", to: "url")
        let file = try folder.write("", to: "file")
        let (code, output) = try run(["--url-file", valid, "--listen", file])
        #expect(code == 78)
        #expect(output.contains("\(file) is not a socket"))
    }

    @Test("help lines fit into 79 columns, and the manual page has every option and every parameter")
    func help() throws {
        let (code, help) = try run(["--help"])
        #expect(code == 0)
        #expect(help.split(separator: "\n").allSatisfy { $0.count <= 79 })
        let page = try String(
            contentsOf: BuiltProduct.packageDirectory.appendingPathComponent("packaging/manuals/countdownd-redis.1"),
            encoding: .utf8
        )
        let options = help.matches(of: /--([a-z-]+)/).map { "Fl \\-" + $0.1.replacing("-", with: "\\-") }
        let parameters = help.matches(of: /([a-z]+)=[A-Z]/).map { "Cm \($0.1) Ns = Ns" }
        #expect(options.count >= 4 && parameters.count >= 5)
        for name in options + parameters { #expect(page.contains(name), "the page lacks \(name)") }
    }

    @Test("the version is the version of countdownd")
    func version() throws {
        let version = try Program.run(BuiltProduct.packageDirectory.appendingPathComponent("scripts/version").path, [])
        #expect(try run(["--version"]) == (0, "countdownd-redis \(version)"))
    }

    @Test("the socket is for its user and group, a stale one is replaced, and one that answers is left")
    func socket() throws {
        let bridge = try BridgeProcess("redis://127.0.0.1:1")
        _ = try bridge.program.line()
        var status = stat()
        #expect(lstat(bridge.socket, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o660)
        let (code, output) = try run(["--url-file", bridge.urlFile, "--listen", bridge.socket])
        #expect(code == 78)
        #expect(output.contains("another process answers on \(bridge.socket)"))
        try bridge.program.kill()
        let second = try Program(
            try BridgeProcess.executable(),
            ["--url-file", bridge.urlFile, "--listen", bridge.socket]
        )
        try second.line(containing: "cannot connect to")
        second.send(signal: SIGTERM)
        #expect(try second.wait() == 0)
    }

    /// Starts a bridge to no engine from a shell that has prepared the process.
    private func start(after preparation: String, in folder: TemporaryDirectory) throws -> Program {
        let url = try folder.write("redis://127.0.0.1:1", to: "url")
        let words = [try BridgeProcess.executable(), "--url-file", url, "--listen", folder.path(of: "s")]
        return try Program("/bin/sh", ["-c", preparation + #"; exec "$@""#, "sh"] + words)
    }

    @Test("it reports that it has too few file descriptors, whatever their number", arguments: Array(4...32))
    func fewDescriptors(limit: Int) throws {
        let program = try start(after: "ulimit -n \(limit)", in: TemporaryDirectory())
        #expect(try program.wait() == 71)
        #expect(program.lines.last?.contains("file descriptors are free, and 32 are needed") == true)
    }

    @Test("it writes no log line into a socket if the standard streams are closed")
    func closedStreams() throws {
        let folder = try TemporaryDirectory()
        let program = try start(after: "exec <&- >&- 2>&-", in: folder)
        try waitUntil("the bridge to listen") { (try? BackendClient(folder.path(of: "s"))) != nil }
        let streams = try (0...2).map {
            try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(program.identifier)/fd/\($0)")
        }
        #expect(streams == ["/dev/null", "/dev/null", "/dev/null"])
    }

    @Test("a socket that is removed is made again, connections stay, and the bridge removes it at its end")
    func removedSocket() throws {
        let bridge = try BridgeProcess("redis://127.0.0.1:1")
        try bridge.program.line(containing: "cannot connect")
        let client = try BackendClient(bridge.socket)
        // A connection that the bridge has not accepted ends with the old socket.
        #expect(try client.propose(Propose.Proposal("a", "x.1")).reason != nil)
        for _ in 1...2 {
            #expect(unlink(bridge.socket) == 0)
            try bridge.program.line(containing: "\(bridge.socket) was removed; listening there again")
            #expect(try BackendClient(bridge.socket).propose(Propose.Proposal("a", "x.1")).reason != nil)
        }
        #expect(try client.propose(Propose.Proposal("a", "x.1")).reason != nil)
        bridge.program.send(signal: SIGTERM)
        #expect(try bridge.program.wait() == 0)
        #expect(!FileManager.default.fileExists(atPath: bridge.socket))
    }

    @Test("if another program's socket is at the path, the bridge says so and leaves it")
    func replacedSocket() throws {
        let bridge = try BridgeProcess("redis://127.0.0.1:1")
        try bridge.program.line(containing: "cannot connect")
        let other = try ListeningSocket(path: bridge.socket + "2")
        #expect(rename(other.path, bridge.socket) == 0)
        try bridge.program.line(containing: "another process answers on \(bridge.socket)")
        bridge.program.send(signal: SIGTERM)
        #expect(try bridge.program.wait() == 0)
        #expect(FileManager.default.fileExists(atPath: bridge.socket))
        withExtendedLifetime(other) {}
    }

    @Test("a URL that every user can read is used with a warning, one in a private folder without")
    func openFile() throws {
        let folder = try TemporaryDirectory()
        // The folders of the tests may be private.
        let open = "/tmp/countdownd-url.\(getpid())"
        try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: open) }
        let url = "\(open)/url"
        try Data("redis://:SECRET@127.0.0.1:1".utf8).write(to: URL(fileURLWithPath: url))
        #expect(chmod(url, 0o644) == 0 && chmod(open, 0o700) == 0)
        let arguments = ["--url-file", url, "--listen", folder.path(of: "s")]
        let quiet = try Program(try BridgeProcess.executable(), arguments)
        try quiet.line(containing: "cannot connect to 127.0.0.1:1")
        #expect(quiet.lines.count == 1)
        try quiet.kill()
        #expect(chmod(open, 0o755) == 0)
        let program = try Program(try BridgeProcess.executable(), arguments)
        let line = try program.line(containing: "warning: every user can read \(url), which may hold a password")
        #expect(!line.contains("SECRET"))
        #expect(chmod(url, 0o640) == 0)
        program.send(signal: SIGHUP)
        try program.line(containing: "cannot connect to 127.0.0.1:1")
        #expect(program.lines.count { $0.contains("every user can read") } == 1)
    }

    @Test("a bridge that works feeds systemd's watchdog again and again, and one that hangs does not")
    func watchdog() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path(of: "notify")
        let manager = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(manager) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(manager, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(bound == 0)
        let environment = ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "300000"]
        let bridge = try BridgeProcess("redis://127.0.0.1:1", environment: environment)
        var buffer = [UInt8](repeating: 0, count: 64)
        for _ in 0..<3 { #expect(recv(manager, &buffer, 64, 0) == "WATCHDOG=1".utf8.count) }
        #expect(buffer.starts(with: "WATCHDOG=1".utf8))
        try bridge.program.stop()
        while recv(manager, &buffer, 64, Int32(MSG_DONTWAIT)) > 0 {}
        letPass(.milliseconds(400))
        #expect(recv(manager, &buffer, 64, Int32(MSG_DONTWAIT)) < 0)
        bridge.program.send(signal: SIGCONT)
        #expect(recv(manager, &buffer, 64, 0) == "WATCHDOG=1".utf8.count)
    }

    @Test("a relative name is looked for among systemd's credentials")
    func credentials() throws {
        let folder = try TemporaryDirectory()
        try folder.write("redis://127.0.0.1:1", to: "fleet.url")
        let program = try Program(
            try BridgeProcess.executable(),
            ["--url-file", "fleet.url", "--listen", folder.path(of: "s")],
            environment: ["CREDENTIALS_DIRECTORY": folder.path]
        )
        try program.line(containing: "cannot connect to 127.0.0.1:1")
    }
}
