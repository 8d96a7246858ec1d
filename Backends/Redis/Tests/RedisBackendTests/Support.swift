import BackendContract
import Foundation
import Glibc
import NIOCore
import NIOPosix
import RESP
import Testing

@testable import RedisBackend

/// Something did not happen in time, or a helper failed.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ sentence: String) { description = sentence }
}

/// Random numbers that are the same on every run: the generator SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

/// A private directory that is removed with its last holder. Its path is short enough for sockets.
final class Folder {
    let path: String

    init() throws {
        var template = Array("/tmp/countdownd-redis-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure("mkdtemp failed") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func path(of name: String) -> String { "\(path)/\(name)" }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(of: name)))
        return path(of: name)
    }
}

/// A process whose output a test reads line by line. It is killed if the test releases it before its end.
final class Program {
    private static let patience: Duration = .seconds(60)

    private let process = Process()
    private let pipe = Pipe()
    private var unread: [UInt8] = []
    private(set) var lines: [String] = []

    init(_ executable: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.environment = environment
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        try? pipe.fileHandleForWriting.close()
    }

    deinit {
        kill()
    }

    var isRunning: Bool { process.isRunning }

    func send(signal: Int32) { if process.isRunning { Glibc.kill(process.processIdentifier, signal) } }

    func kill() {
        guard process.isRunning else { return }
        send(signal: SIGKILL)
        process.waitUntilExit()
    }

    /// Waits for its end, and returns its exit code.
    func wait() throws -> Int32 {
        while try line() != nil {}
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// The next line of its output; nil at the end.
    func line() throws -> String? {
        let deadline = ContinuousClock.now + Self.patience
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread = Array(unread[(end + 1)...])
                lines.append(line)
                return line
            }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 1_000) >= 0 || errno == EINTR else { throw Failure("poll failed") }
            guard ContinuousClock.now < deadline else { throw Failure("no line within a minute after \(lines)") }
            guard entry.revents != 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return nil }
            unread += buffer.prefix(count)
        }
    }

    /// Reads lines until one contains the text.
    @discardableResult
    func line(containing text: String) throws -> String {
        while let line = try line() {
            if line.contains(text) { return line }
        }
        throw Failure("the program has ended without the line '\(text)': \(lines)")
    }

    /// Runs a program to its end.
    ///
    /// - Returns: its output.
    /// - Throws: `Failure` if its exit code is not 0.
    static func run(_ executable: String, _ arguments: [String]) throws -> String {
        let program = try Program(executable, arguments)
        let code = try program.wait()
        let output = program.lines.joined(separator: "\n")
        guard code == 0 else { throw Failure("\(executable) \(arguments) ends with \(code): \(output)") }
        return output
    }
}

/// A redis-server on loopback that a test started.
final class RedisServer: EngineController {
    private let folder: Folder
    private let arguments: [String]
    private var process: Program?
    let port: Int

    /// Starts a server with further options of redis-server. With TLS among them, `{port}` stands for the port, and
    /// `--port 0` has to be given.
    init(_ options: [String] = [], in folder: Folder? = nil) throws {
        let folder = try folder ?? Folder()
        self.folder = folder
        let port = try Self.freePort()
        self.port = port
        let own = [
            "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--dir", folder.path, "--unixsocket",
            folder.path(of: "redis"), "--daemonize", "no",
        ]
        let listening = options.contains("--tls-port") ? [] : ["--port", "\(port)"]
        arguments = own + listening + options.map { $0 == "{port}" ? "\(port)" : $0 }
        try restart()
    }

    deinit { process?.kill() }

    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isBound else { throw Failure("no port is free") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    func kill() throws { process?.kill() }

    func restart() throws {
        let process = try Program("/usr/bin/redis-server", arguments)
        try process.line(containing: "The server is now ready to accept connections at")
        self.process = process
    }

    func freeze() throws { process?.send(signal: SIGSTOP) }

    func thaw() throws { process?.send(signal: SIGCONT) }

    func loseEverything() throws { try command("FLUSHALL") }

    func trimLog() throws { try command("XTRIM", "cd:{fleet/0}:log", "MAXLEN", "1") }

    func setFull(_ isFull: Bool) throws { try command("CONFIG", "SET", "maxmemory", isFull ? "1" : "0") }

    /// Carries out a command with redis-cli.
    @discardableResult
    func command(_ words: String...) throws -> String { try command(words: words) }

    /// Carries out a command with redis-cli.
    @discardableResult
    func command(words: [String]) throws -> String {
        try Program.run("/usr/bin/redis-cli", ["-s", folder.path(of: "redis")] + words)
    }
}

/// A countdownd-redis that a test started.
final class BridgeProcess {
    let program: Program
    let socket: String
    let urlFile: String
    private let folder: Folder

    /// Starts a bridge; `{port}` in the URL stands for the port.
    init(_ url: String, port: Int = 0, options: [String] = [], environment: [String: String] = [:]) throws {
        let folder = try Folder()
        self.folder = folder
        socket = folder.path(of: "backend")
        urlFile = try folder.write(url.replacing("{port}", with: "\(port)") + "\n", to: "url")
        let arguments =
            ["--url-file", urlFile, "--listen", socket] + options.map { $0.replacing("{folder}", with: folder.path) }
        program = try Program(try Self.executable(), arguments, environment: environment)
    }

    /// A bridge that is connected to a server.
    convenience init(_ server: RedisServer, parameters: String = "") throws {
        try self.init("redis://127.0.0.1:{port}/\(parameters)", port: server.port)
        try program.line(containing: "connected to")
    }

    /// Replaces the URL, and lets the bridge read it.
    func replaceURL(_ url: String) throws {
        try folder.write(url, to: "url")
        program.send(signal: SIGHUP)
    }

    func write(_ text: String, to name: String) throws { try folder.write(text, to: name) }

    func client() throws -> BackendClient { try BackendClient(socket) }

    /// The executable that was built along with the tests.
    static func executable() throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folders = [tests, CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? ""]
        for folder in folders {
            let path = URL(fileURLWithPath: folder).deletingLastPathComponent().appendingPathComponent(
                "countdownd-redis"
            ).path
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        throw Failure("countdownd-redis is not built")
    }
}

/// Certificates that openssl makes for a test.
struct Certificates {
    private let folder: Folder

    init(in folder: Folder) throws {
        self.folder = folder
        for authority in ["ca", "other-ca"] {
            try openssl([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "\(authority).key", "-out",
                "\(authority).pem",
                "-subj", "/CN=\(authority)", "-days", "2",
            ])
        }
    }

    func path(of name: String) -> String { folder.path(of: name) }

    /// Makes NAME.pem and NAME.key, signed by `ca`. With a negative number of days it has expired.
    func make(_ name: String, alternative: String, days: Int = 2) throws {
        try openssl([
            "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "\(name).key", "-out", "\(name).csr", "-subj",
            "/CN=\(name)",
        ])
        try folder.write("subjectAltName=\(alternative)\n", to: "\(name).ext")
        try openssl([
            "x509", "-req", "-in", "\(name).csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days",
            "\(days)",
            "-out", "\(name).pem", "-extfile", "\(name).ext",
        ])
    }

    private func openssl(_ arguments: [String]) throws {
        let files = [".pem", ".key", ".csr", ".ext"]
        _ = try Program.run(
            "/usr/bin/openssl",
            arguments.map { argument in
                files.contains { argument.hasSuffix($0) } ? folder.path(of: argument) : argument
            }
        )
    }
}

/// A server that answers each command with bytes that a test chooses; nil closes the connection.
final class FakeEngine: Sendable {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel

    var port: Int { channel.localAddress?.port ?? 0 }

    init(_ answer: @escaping @Sendable ([String]) -> String?) throws {
        channel = try ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
    }

    deinit { try? group.syncShutdownGracefully() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private var reader = RESPReader()
        private let answer: ([String]) -> String?

        init(_ answer: @escaping ([String]) -> String?) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            bytes.withUnsafeReadableBytes { reader.receive($0.bindMemory(to: UInt8.self).span) }
            while let command = try? reader.next() {
                guard let reply = answer((command.elements ?? []).compactMap(\.text)) else {
                    return context.close(promise: nil)
                }
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: reply)), promise: nil)
            }
        }
    }
}
