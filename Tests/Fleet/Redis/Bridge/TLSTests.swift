import TestSupport
import Testing

@Suite("TLS", .serialized)
struct TLSTests {
    private let directory: TemporaryDirectory
    private let certificates: Certificates

    init() throws {
        directory = try TemporaryDirectory()
        certificates = try Certificates(in: directory)
    }

    private func server(_ certificate: String, clients: String = "no") throws -> RedisServer {
        try RedisServer([
            "--port", "0", "--tls-port", "{port}", "--tls-cert-file", certificates.path(of: "\(certificate).pem"),
            "--tls-key-file", certificates.path(of: "\(certificate).key"), "--tls-ca-cert-file",
            certificates.path(of: "ca.pem"), "--tls-auth-clients", clients,
        ])
    }

    private func expect(_ sentence: String, host: String = "localhost", _ server: RedisServer, _ query: String) throws {
        let bridge = try BridgeProcess("rediss://\(host):{port}/?\(query)", port: server.port)
        let line = try #require(try bridge.program.line())
        #expect(line.contains(sentence.replacing("%", with: "\(host):\(server.port)")))
    }

    @Test("the name and the authority of the server's certificate are verified")
    func verification() throws {
        try certificates.make("server", alternative: "DNS:localhost,IP:127.0.0.1")
        let server = try server("server")
        let ca = "ca=\(certificates.path(of: "ca.pem"))"
        try expect("info: connected to ", server, ca)
        try expect("info: connected to ", host: "127.0.0.1", server, ca)
        let other = "ca=\(certificates.path(of: "other-ca.pem"))"
        let untrusted = "error: the certificate of % is not signed by an authority that is trusted: use ca=FILE"
        try expect(untrusted, server, other)
        try expect(untrusted, server, "")
        try expect("error: cannot read ca=/none: No such file or directory", server, "ca=/none")
        let key = "ca=\(certificates.path(of: "server.key"))"
        try expect("error: invalid \(key): the file has to hold certificates", server, key)
    }

    @Test("a certificate for another name, one that has expired, and one that is not valid yet are refused")
    func invalidCertificates() throws {
        try certificates.make("named", alternative: "DNS:engine.example")
        try certificates.make("expired", alternative: "DNS:localhost", days: -1)
        let ca = "ca=\(certificates.path(of: "ca.pem"))"
        try certificates.makeForTomorrow("early", alternative: "DNS:localhost")
        for (name, fault) in [
            ("named", "is not made out to 'localhost': use the name that it contains"),
            ("expired", "has expired: renew it on the server"),
            ("early", "is not valid yet: compare the clocks of both machines"),
        ] { try expect("error: the certificate of % \(fault)", try server(name), ca) }
    }

    @Test("a client certificate is sent if the server demands it, and one that the server rejects is named")
    func clientCertificate() throws {
        try certificates.make("server", alternative: "DNS:localhost")
        try certificates.make("client", alternative: "DNS:client")
        let server = try server("server", clients: "yes")
        let ca = "ca=\(certificates.path(of: "ca.pem"))"
        try expect("error: % demands a client certificate: use cert=FILE and key=FILE", server, ca)
        let (certificate, key) = (certificates.path(of: "client.pem"), certificates.path(of: "client.key"))
        try expect("info: connected to ", server, "\(ca)&cert=\(certificate)&key=\(key)")
        let mixed = "\(ca)&cert=\(certificate)&key=\(certificates.path(of: "server.key"))"
        try expect("error: cert and key of the URL do not belong together", server, mixed)
        try certificates.make("stranger", alternative: "DNS:client", authority: "other-ca")
        let stranger = "cert=\(certificates.path(of: "stranger.pem"))&key=\(certificates.path(of: "stranger.key"))"
        try expect("error: % rejects the client certificate of cert=", server, "\(ca)&\(stranger)")
    }

    @Test("relative names of the URL's files are looked for among systemd's credentials")
    func credentials() throws {
        try certificates.make("server", alternative: "DNS:localhost")
        try certificates.make("client", alternative: "DNS:client")
        let server = try server("server", clients: "yes")
        let bridge = try BridgeProcess(
            "rediss://localhost:{port}/?ca=ca.pem&cert=client.pem&key=client.key",
            port: server.port,
            environment: ["CREDENTIALS_DIRECTORY": directory.path]
        )
        #expect(try bridge.program.line()?.contains("info: connected to ") == true)
    }

    @Test("TLS against plain text, and plain text against TLS")
    func mismatch() throws {
        try certificates.make("server", alternative: "DNS:localhost")
        let plain = try RedisServer()
        let bridge = try BridgeProcess("rediss://127.0.0.1:{port}", port: plain.port)
        let line = try #require(try bridge.program.line())
        #expect(line.contains("does not speak TLS"))
        #expect(line.contains("redis:"))
        let secure = try server("server")
        let other = try BridgeProcess("redis://127.0.0.1:{port}", port: secure.port)
        try other.program.line(containing: "use rediss:")
    }
}
