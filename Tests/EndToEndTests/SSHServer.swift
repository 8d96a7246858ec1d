import Foundation
import TestSupport
import Testing

/// An `ssh` that knows one host, `there`: an sshd of its own, which lets the user of the tests in by a key made for it.
///
/// Each login has an sshd for itself, on its standard input, so there is no port that another program could have.
final class SSHServer {
    /// Holds the `ssh` to be found by PATH.
    let directory: TemporaryDirectory
    /// A folder with nothing in it.
    let sessions: String

    /// - Parameter variables: what commands there find in their environment.
    /// - Throws: where there is no OpenSSH.
    init(variables: [String: String]) throws {
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
        try configure(proxy: "/usr/sbin/sshd -i -f \(path("sshd_config")) -E \(path("log"))")
        try directory.write(
            """
            #!/bin/sh
            case "$*" in *ControlMaster*) echo $$ > \(path("login")) ;; esac
            exec /usr/bin/ssh -F \(path("ssh_config")) "$@"

            """,
            to: "ssh"
        )
        try run("/bin/chmod", "700", path("ssh"))
    }

    /// What sshd has said.
    var log: String { (try? String(contentsOfFile: path("log"), encoding: .utf8)) ?? "" }

    /// Lets nobody in from now on.
    func close() throws {
        try configure(proxy: "false")
    }

    /// Ends the login that was begun last.
    func endLogin() throws {
        let text = try String(contentsOfFile: path("login"), encoding: .utf8)
        kill(try #require(pid_t(text.dropLast())), SIGTERM)
    }

    private func configure(proxy: String) throws {
        try directory.write(
            """
            Host there
              ProxyCommand \(proxy)
              User \(NSUserName())
              IdentityFile \(path("user"))
              IdentitiesOnly yes
              IdentityAgent none
              BatchMode yes
              StrictHostKeyChecking no
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
