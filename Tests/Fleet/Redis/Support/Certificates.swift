import Foundation
import TestSupport

/// Certificates that openssl makes for a test.
struct Certificates {
    private let directory: TemporaryDirectory

    init(in directory: TemporaryDirectory) throws {
        self.directory = directory
        for authority in ["ca", "other-ca"] {
            try openssl([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "\(authority).key", "-out",
                "\(authority).pem", "-subj", "/CN=\(authority)", "-days", "2",
            ])
        }
    }

    func path(of name: String) -> String { directory.path(of: name) }

    /// Makes NAME.pem and NAME.key, signed by `ca`. With a negative number of days it has expired.
    func make(_ name: String, alternative: String, days: Int = 2, authority: String = "ca") throws {
        try openssl([
            "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "\(name).key", "-out", "\(name).csr", "-subj",
            "/CN=\(name)",
        ])
        try directory.write("subjectAltName=\(alternative)\n", to: "\(name).ext")
        try openssl([
            "x509", "-req", "-in", "\(name).csr", "-CA", "\(authority).pem", "-CAkey", "\(authority).key",
            "-CAcreateserial", "-days", "\(days)", "-out", "\(name).pem", "-extfile", "\(name).ext",
        ])
    }

    /// Makes NAME.pem and NAME.key, signed by `ca` and valid from tomorrow on.
    func makeForTomorrow(_ name: String, alternative: String) throws {
        try make(name, alternative: alternative)
        let settings = """
            [ca]
            default_ca = authority
            [authority]
            database = \(directory.path(of: "database"))
            new_certs_dir = \(directory.path)
            rand_serial = yes
            default_md = sha256
            policy = any
            [any]
            commonName = supplied
            """
        try directory.write(settings, to: "ca.conf")
        try directory.write("", to: "database")
        let tomorrow = Date(timeIntervalSinceNow: 86_400).formatted(.iso8601).filter { !"-:T".contains($0) }
        try openssl([
            "ca", "-batch", "-config", directory.path(of: "ca.conf"), "-cert", "ca.pem", "-keyfile", "ca.key", "-in",
            "\(name).csr", "-out", "\(name).pem", "-extfile", "\(name).ext", "-startdate", tomorrow, "-days", "2",
            "-notext",
        ])
    }

    private func openssl(_ arguments: [String]) throws {
        let files = [".pem", ".key", ".csr", ".ext"]
        _ = try Program.run(
            "/usr/bin/openssl",
            arguments.map { argument in
                files.contains { argument.hasSuffix($0) } ? directory.path(of: argument) : argument
            }
        )
    }
}
