import Glibc

/// `varlink-certification serve ADDRESS` and `varlink-certification call ADDRESS`, ADDRESS being `unix:` and a path: the
/// two sides of `org.varlink.certification`, to be run against those of other implementations.
@main
enum Command {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let verb = arguments.first, let address = arguments.last,
            address.hasPrefix("unix:")
        else { return leave("usage: varlink-certification serve|call unix:PATH", code: EX_USAGE) }
        do {
            try run(verb, at: String(address.dropFirst("unix:".count)))
        } catch {
            leave("varlink-certification: \(error)", code: EX_PROTOCOL)
        }
    }

    private static func run(_ verb: String, at path: String) throws {
        switch verb {
        case "serve":
            var server = try Server(at: path)
            print("Listening on \(path)")
            fflush(nil)
            try server.run()
        case "call":
            var client = CertificationClient(on: try UnixSocket.connected(to: path))
            try client.run()
            print("Certification passed")
        default:
            leave("varlink-certification: no such verb: \(verb) (serve or call)", code: EX_USAGE)
        }
    }

    private static func leave(_ sentence: String, code: Int32) {
        let line = Array("\(sentence)\n".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
        exit(code)
    }
}
