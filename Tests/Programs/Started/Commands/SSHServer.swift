import Foundation
import TestSupport
import Testing

/// An `ssh` that knows one host, `there`: an sshd that admits the user of the tests with a key made for it.
///
/// Each login has an sshd of its own on its standard input, unless one is to listen.
final class SSHServer {
    private static let program = "/usr/sbin/sshd"

    /// Holds the `ssh` to be found by PATH.
    let directory: TemporaryDirectory
    /// An empty folder.
    let sessions: String
    /// The sshd that listens, if one does.
    private var listener: RunningCommand?

    /// - Parameters:
    ///   - variables: the environment of commands there.
    ///   - isListening: whether one sshd is there for all logins, on a port of the loopback.
    ///   - client: the ssh to use.
    /// - Throws: that OpenSSH is missing.
    init(variables: [String: String], isListening: Bool = false, client: String = "/usr/bin/ssh") throws {
        directory = try TemporaryDirectory()
        sessions = directory.path(of: "sessions")
        try FileManager.default.createDirectory(atPath: sessions, withIntermediateDirectories: false)
        for key in ["host", "user"] { try run("/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path(key)) }
        if getuid() == 0 { try run("/bin/mkdir", "-p", "/run/sshd") }
        let environment = variables.map { "SetEnv \($0.key)=\($0.value)" }.joined(separator: " ")
        try directory.write(
            """
            HostKey \(path("host"))
            AuthorizedKeysFile \(path("user.pub"))
            StrictModes no
            UsePAM no
            PasswordAuthentication no
            PermitRootLogin prohibit-password
            \(environment)

            """,
            to: "sshd_config"
        )
        if isListening {
            let port = try listen()
            let key = try String(contentsOfFile: path("host.pub"), encoding: .utf8)
            try directory.write("[127.0.0.1]:\(port) \(key)", to: "known_hosts")
            try configure("HostName 127.0.0.1", "Port \(port)", "StrictHostKeyChecking yes")
        } else {
            let command = "\(Self.program) -i -f \(path("sshd_config")) -E \(path("log"))"
            try configure("ProxyCommand \(command)", "StrictHostKeyChecking no")
        }
        try directory.write(
            """
            #!/bin/sh
            case "$*" in *ControlMaster*) echo $$ > \(path("login")) ;; esac
            exec \(client) -F \(path("ssh_config")) "$@"

            """,
            to: "ssh"
        )
        try run("/bin/chmod", "700", path("ssh"))
    }

    /// The log of sshd.
    var log: String { (try? String(contentsOfFile: path("log"), encoding: .utf8)) ?? "" }

    /// Refuses every login from now on.
    func close() throws {
        try configure("ProxyCommand false")
    }

    /// Ends the newest login.
    func endLogin() throws {
        let text = try String(contentsOfFile: path("login"), encoding: .utf8)
        kill(try #require(pid_t(text.dropLast())), SIGTERM)
    }

    /// Starts an sshd on a free port, which it reports when it listens. If another program takes the port first, it
    /// ends, and another port is tried.
    private func listen() throws -> UInt16 {
        for _ in 0..<20 {
            let port = try LoopbackPort.free()
            let options = "-D -e -o ListenAddress=127.0.0.1 -p \(port) -f \(path("sshd_config"))"
            let command = try RunningCommand(["-c", "exec \(Self.program) \(options) 2>&1"], executable: "/bin/sh")
            while let line = try command.line() {
                guard line.hasPrefix("Server listening on 127.0.0.1 port \(port)") else { continue }
                listener = command
                return port
            }
        }
        throw NoPort()
    }

    struct NoPort: Error {}

    private func configure(_ lines: String...) throws {
        try directory.write(
            """
            Host there
              \(lines.joined(separator: "\n  "))
              User \(NSUserName())
              IdentityFile \(path("user"))
              IdentitiesOnly yes
              IdentityAgent none
              BatchMode yes
              UserKnownHostsFile \(path("known_hosts"))
              LogLevel ERROR

            """,
            to: "ssh_config"
        )
    }

    private func path(_ name: String) -> String { directory.path(of: name) }

    private func run(_ words: String...) throws {
        let run = try RunningCommand(Array(words.dropFirst()), executable: words[0]).finish()
        try #require(run.exitCode == 0, "\(words): \(run.standardError)")
    }
}
