import Foundation
import TestSupport
import Testing

@Suite("URLs", .serialized)
struct URLTests {
    /// The sentence of the bridge about the text of a URL file before it ends.
    private func sentence(_ text: String) throws -> String {
        let directory = try TemporaryDirectory()
        let file = try directory.write(text, to: "url")
        let arguments = ["--url-file", file, "--listen", directory.path(of: "socket")]
        let program = try Program(try BridgeProcess.executable(), arguments)
        #expect(try program.wait() == 78)
        return program.lines.joined(separator: "\n")
    }

    @Test(
        "an invalid URL is answered with the value and what is expected",
        arguments: [
            ("http://h", "invalid URL: use redis://HOST:PORT/?namespace=NAME, or rediss: for TLS"),
            ("redis:h", "invalid URL: use redis://HOST:PORT/?namespace=NAME, or rediss: for TLS"),
            ("redis://", "invalid URL: it names no host"),
            ("redis://:7000", "invalid URL: it names no host"),
            ("redis://h:0", "invalid port: use a number from 1 to 65535"),
            ("redis://h:65536", "invalid port: use a number from 1 to 65535"),
            ("redis://::1", "invalid host: use HOST:PORT, with an IPv6 address in brackets, as in [::1]:6379"),
            ("redis://fe80::1", "invalid host: use HOST:PORT, with an IPv6 address in brackets, as in [::1]:6379"),
            ("redis://[::1", "invalid host: use HOST:PORT, with an IPv6 address in brackets, as in [::1]:6379"),
            ("redis://[::1]6379", "invalid host: use HOST:PORT, with an IPv6 address in brackets, as in [::1]:6379"),
            ("redis://h/3", "invalid path '/3': use / or none, because channels have no database"),
            ("redis://h?namespace=A", "invalid namespace 'A': use 1 to 32 of the characters a-z, 0-9 and -"),
            (
                "redis://h?namespace=",
                "invalid parameter 'namespace': use namespace=VALUE, with %XX for special characters"
            ),
            ("redis://h?namespace=a&acks=1&namespace=b", "the parameter 'namespace' is given twice: use it once"),
            ("redis://h?acks=x", "invalid acks 'x': use a number from 0 to 8"),
            ("redis://h?margin=5", "invalid margin '5': use a number of milliseconds from 10 to 1000"),
            (
                "redis://h?db=1",
                "unknown parameter 'db': use namespace, ca, cert, key, acks, margin, sentinel, "
                    + "sentineluser or sentinelpassword"
            ),
            ("redis://h?ca=/x", "ca, cert and key are parameters of TLS: use rediss: instead of redis:"),
            ("rediss://h?cert=/x", "cert and key belong together: use both or none"),
            (
                "redis://a:1,b:2",
                "invalid URL: several hosts are sentinels, and need the name of their primary, sentinel=NAME"
            ),
            ("redis://a:1,,b?sentinel=x", "invalid URL: it names no host"),
            ("redis://a:1,b:0?sentinel=x", "invalid port: use a number from 1 to 65535"),
            (
                "redis://a?sentinelpassword=x",
                "sentineluser and sentinelpassword need the name of the primary, sentinel=NAME"
            ),
            (
                "redis://a?sentinel=x&sentineluser=y",
                "sentineluser needs sentinelpassword: use both, or the password alone"
            ),
        ]
    )
    func invalid(text: String, expected: String) throws { #expect(try sentence(text).hasSuffix("/url: \(expected)")) }

    @Test("a file without a URL, or with more than a URL, is invalid", arguments: ["", "\n", "redis://a\nredis://b"])
    func otherFiles(text: String) throws {
        #expect(try sentence(text).hasSuffix("/url has to hold one URL and nothing else"))
    }

    @Test(
        "no error has the password",
        arguments: [
            "redis://user:SECRET", "redis://user:SE/SECRET@h", "redis://user:a?SECRET@h", "redis://SECRET@h",
            "redis://u:SECRET%zz@h", "redis://u:SECRET@h:x", "redis://u:SECRET@h/3", "redis://u:SECRET@h?x=1",
            "redis://u:SECRET@", "redis://u:SECRET@a,b", "redis://u:a#SECRET@h", "redis:u:SECRET@h", "SECRET",
            "redis://u:p@h SECRET", "redis://a,b?sentinelpassword=SECRET",
            "redis://a?sentinel=x&sentinelpassword=SECRET%",
        ]
    )
    func noPassword(text: String) throws { #expect(try !sentence(text).contains("SECRET")) }

    @Test("what is left out of a URL has a default")
    func defaults() throws {
        for (url, address) in [
            ("redis://localhost", "localhost:6379"), ("redis://localhost/", "localhost:6379"),
            ("redis://[::1]:1/", "[::1]:1"),
            ("redis://[::1]", "[::1]:6379"), ("redis://[::1]?sentinel=x", "[::1]:26379"),
            ("redis://127.0.0.1,[::1]:2?sentinel=x", "127.0.0.1:26379: Connection refused; cannot connect to [::1]:2"),
        ] {
            let bridge = try BridgeProcess(url)
            try bridge.program.line(containing: address)
        }
    }

    @Test("the user and the password reach the engine as they are, and no line and no command line has them")
    func credentials() throws {
        let long = String(repeating: "x", count: 200)
        for (authority, words) in [
            ("us%40er:p%3Aa%2Fss", ["AUTH", "us@er", "p:a/ss"]), (":p%3Aa%2Fss", ["AUTH", "p:a/ss"]),
            // Redis repeats the first 128 bytes.
            (":p%3Aa%2Fss" + long, ["AUTH", "p:a/ss" + long]),
        ] {
            let login = Received()
            let engine = try FakeEngine { command in
                if command.first == "AUTH" { login.add(command) }
                let arguments = words.dropFirst().map { "'\($0)'" }.joined(separator: " ").prefix(128)
                return .text("-ERR unknown command 'AUTH', with args beginning with: \(arguments)\r\n")
            }
            let bridge = try BridgeProcess("redis://\(authority)@127.0.0.1:{port}/?namespace=sms-1", port: engine.port)
            let line = try #require(try bridge.program.line())
            #expect(line.hasSuffix("127.0.0.1:\(engine.port) rejects AUTH: its words hold the password"))
            #expect(login.commands.first == words)
            let process = "/proc/\(bridge.program.identifier)"
            for file in ["cmdline", "environ"] {
                #expect(try !String(contentsOfFile: "\(process)/\(file)", encoding: .utf8).contains("p:a/ss"))
            }
        }
    }
}

/// The commands that an engine has received.
final class Received: Sendable {
    private let list = Guarded<[[String]]>([])

    var commands: [[String]] { list.withLock { $0 } }

    func add(_ command: [String]) { list.withLock { $0.append(command) } }
}
