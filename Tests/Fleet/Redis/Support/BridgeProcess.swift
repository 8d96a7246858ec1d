import Glibc
import TestSupport

/// A countdownd-redis that a test started; its socket and its URL outlive its process.
final class BridgeProcess {
    /// The running process, or the last one.
    private(set) var program: Program
    let socket: String
    let urlFile: String
    private let directory: TemporaryDirectory
    private let arguments: [String]
    private let environment: [String: String]

    /// Starts a bridge; `{port}` in the URL stands for the port.
    init(
        _ url: String,
        port: Int = 0,
        environment: [String: String] = [:]
    ) throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        self.environment = environment
        socket = directory.path(of: "backend")
        urlFile = try directory.write(url.replacing("{port}", with: "\(port)") + "\n", to: "url")
        arguments = ["--url-file", urlFile, "--listen", socket]
        program = try Program(try Self.executable(), arguments, environment: environment)
    }

    /// A bridge that is connected to a server.
    convenience init(_ server: RedisServer, parameters: String = "") throws {
        try self.init("redis://127.0.0.1:{port}/\(parameters)", port: server.port)
        try program.line(containing: "connected to")
    }

    /// Starts it again after its end.
    func start() throws { program = try Program(try Self.executable(), arguments, environment: environment) }

    /// Replaces the URL, and lets the bridge read it.
    func replaceURL(_ url: String) throws {
        try directory.write(url, to: "url")
        program.send(signal: SIGHUP)
    }

    static func executable() throws -> String { try BuiltProduct.path(of: "countdownd-redis") }
}
