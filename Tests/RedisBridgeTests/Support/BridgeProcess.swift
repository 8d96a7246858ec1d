import BackendContract
import Glibc
import TestSupport

/// A countdownd-redis that a test started.
final class BridgeProcess {
    let program: Program
    let socket: String
    let urlFile: String
    private let directory: TemporaryDirectory

    /// Starts a bridge; `{port}` in the URL stands for the port, and `{folder}` in options for its folder.
    init(_ url: String, port: Int = 0, options: [String] = [], environment: [String: String] = [:]) throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        socket = directory.path(of: "backend")
        urlFile = try directory.write(url.replacing("{port}", with: "\(port)") + "\n", to: "url")
        let arguments =
            ["--url-file", urlFile, "--listen", socket] + options.map { $0.replacing("{folder}", with: directory.path) }
        program = try Program(try Self.executable(), arguments, environment: environment)
    }

    /// A bridge that is connected to a server.
    convenience init(_ server: RedisServer, parameters: String = "") throws {
        try self.init("redis://127.0.0.1:{port}/\(parameters)", port: server.port)
        try program.line(containing: "connected to")
    }

    /// Replaces the URL, and lets the bridge read it.
    func replaceURL(_ url: String) throws {
        try directory.write(url, to: "url")
        program.send(signal: SIGHUP)
    }

    func write(_ text: String, to name: String) throws { try directory.write(text, to: name) }

    func client() throws -> BackendClient { try BackendClient(socket) }

    /// The executable that `make build-fleet` has made.
    static func executable() throws -> String { try BuiltProduct.path(of: "countdownd-redis") }
}
