import Glibc
import System
import Text

/// The options of the command line. The URL is not among them, because others can read command lines.
public struct BridgeOptions: Equatable, Sendable {
    /// The request of the command line.
    public enum ParseResult: Equatable, Sendable {
        case run(BridgeOptions)
        case showHelp
        case showVersion
    }

    var urlFile = ""
    var socket = ""

    /// The version, as `--version` prints it.
    public static let version = "countdownd-redis \(BridgeVersion.current)"

    /// The text that `--help` prints.
    public static let help = """
        countdownd-redis lets countdownd share countdowns through Redis or Valkey.

        Usage: countdownd-redis --url-file FILE --listen SOCKET

          --url-file FILE   read the engine's URL from this file; - is standard
                            input (a relative name is looked for in systemd's
                            $CREDENTIALS_DIRECTORY first)
          --listen SOCKET   serve io.countdownd.Backend on this socket
          --help            print this text
          --version         print the version

        The URL: rediss://USER:PASSWORD@HOST:PORT/?namespace=NAME, or redis: without
        TLS. Its parameters:
          namespace=NAME    in front of every key (default: fleet)
          ca=FILE           the certificates to trust (default: the system's)
          cert=FILE key=FILE  the client's certificate and key
          acks=NUMBER       how many replicas acknowledge a change (default: 0,
                            and 1 with Sentinel)

        With Sentinel: rediss://USER:PASSWORD@SENTINEL:PORT,SENTINEL:PORT/ and
          sentinel=NAME     the name that the sentinels have for the primary
          sentinelpassword=PASSWORD sentineluser=USER
                            if the sentinels demand them

        SIGHUP reads the URL again. It runs in the foreground until SIGTERM.
        """

    /// Parses the arguments after the program's name. If an option is repeated, its last value counts.
    ///
    /// - Throws: `OptionParser.UsageError`.
    public static func parse(_ arguments: [String]) throws -> ParseResult {
        var options = BridgeOptions()
        var parser = OptionParser(
            arguments,
            flags: ["--help", "-h", "--version"],
            options: ["--url-file", "--listen"]
        )
        while let argument = try parser.next() {
            switch argument {
            case .flag("--version"): return .showVersion
            case .flag: return .showHelp
            case .option("--url-file", let value): options.urlFile = value
            case .option(_, let value): options.socket = value
            // It may be a URL, so it is not repeated.
            case .operand: throw OptionParser.UsageError("unexpected argument: use --url-file FILE; see --help")
            }
        }
        guard !options.urlFile.isEmpty else { throw OptionParser.UsageError("--url-file is missing; see --help") }
        guard !options.socket.isEmpty else { throw OptionParser.UsageError("--listen is missing; see --help") }
        guard options.socket.utf8.count <= SocketAddress.pathLimit else {
            throw OptionParser.UsageError(
                invalid: options.socket,
                of: "--listen",
                expectation: "a path of at most \(SocketAddress.pathLimit) bytes"
            )
        }
        return .run(options)
    }

    /// Reads and parses the URL.
    func readURL() throws -> EngineURL {
        let text = try Self.read(urlFile == "-" ? "/dev/stdin" : Self.credentialPath(urlFile))
        let line = text.split(whereSeparator: \.isWhitespace)
        guard line.count == 1 else { throw EngineURL.Invalid("\(urlFile) has to hold one URL and nothing else") }
        do {
            return try EngineURL(parsing: String(line[0]))
        } catch {
            throw EngineURL.Invalid("\(urlFile): \(error.description)")
        }
    }

    /// A sentence if every user can read the URL, which may have a password; nil if the file or one of its folders is private.
    var urlWarning: String? {
        let path = Self.credentialPath(urlFile)
        guard urlFile != "-", Self.isOpen(path, to: 0o004) else { return nil }
        let absolute = path.hasPrefix("/") ? path : "\(Environment.workingDirectory ?? "")/\(path)"
        let folders = absolute.indices.filter { absolute[$0] == "/" }.map { absolute[..<$0] + "/" }
        guard folders.allSatisfy({ Self.isOpen(String($0), to: 0o001) }) else { return nil }
        return "every user can read \(path), which may hold a password: use chmod 600"
    }

    private static func isOpen(_ path: String, to bits: UInt32) -> Bool {
        (try? FileStatus.read(path)).map { $0.mode & bits == bits } ?? false
    }

    /// The path of a file: a relative one is looked for among the credentials of systemd first.
    static func credentialPath(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = Environment.value(of: "CREDENTIALS_DIRECTORY"), !folder.isEmpty,
            access("\(folder)/\(path)", R_OK) == 0
        else { return path }
        return "\(folder)/\(path)"
    }

    private static func read(_ path: String) throws -> String {
        let limit = 64 << 10
        let text: [UInt8]
        do throws(SystemFailure) {
            text = try StoredText.bytes(of: path, limit: limit + 1)
        } catch {
            throw EngineURL.Invalid("cannot read \(path): \(systemMessage(error.code))")
        }
        guard text.count <= limit else { throw EngineURL.Invalid("\(path) is longer than 64 KiB and cannot be a URL") }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The version of the bridge, which is released with the daemon.
enum BridgeVersion {
    static let current = "0.1.0"
}
