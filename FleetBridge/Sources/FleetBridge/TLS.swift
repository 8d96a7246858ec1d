import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import System

/// TLS to the engine: the context, and the reason why a certificate is refused.
enum TLS {
    /// The context of a URL; nil without TLS.
    ///
    /// - Throws: `EngineFailure` if a file cannot be used.
    static func context(_ url: EngineURL) throws -> NIOSSLContext? {
        guard url.usesTLS else { return nil }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let path = url.authorities {
            configuration.trustRoots = .certificates(
                try read("ca", path, "certificates in PEM") { try NIOSSLCertificate.fromPEMFile($0) }
            )
        }
        if let path = url.certificate {
            configuration.certificateChain = try read("cert", path, "a certificate in PEM") {
                try NIOSSLCertificate.fromPEMFile($0).map { .certificate($0) }
            }
        }
        if let path = url.privateKey {
            configuration.privateKey = .privateKey(
                try read("key", path, "a private key in PEM") { try NIOSSLPrivateKey(file: $0, format: .pem) }
            )
        }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw EngineFailure("cert and key of the URL do not belong together")
        }
    }

    private static func read<Value>(
        _ parameter: String,
        _ path: String,
        _ expectation: String,
        _ body: (String) throws -> Value
    ) throws -> Value {
        let file = BridgeOptions.credentialPath(path)
        guard access(file, R_OK) == 0 else {
            throw EngineFailure("cannot read \(parameter)=\(path): \(systemMessage(errno))")
        }
        do {
            return try body(file)
        } catch {
            throw EngineFailure("invalid \(parameter)=\(path): the file has to hold \(expectation)")
        }
    }

    /// Finds out whether a certificate that was refused has expired, which the library does not say: by a handshake that
    /// looks at the certificate and ends without sending anything.
    ///
    /// - Returns: the sentence to report.
    @BridgeLoop
    static func diagnose(_ failure: EngineFailure, _ url: EngineURL) async throws -> EngineFailure {
        guard let server = url.server, failure.description.contains("is not signed by") else { return failure }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .noHostnameVerification
        let context = try NIOSSLContext(configuration: configuration)
        let loop = BridgeLoop.shared.loop
        let expiry = loop.makePromise(of: (from: Int, until: Int)?.self)
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(EngineFailure.answerTime).channelInitializer {
            channel in
            channel.eventLoop.makeCompletedFuture {
                let handler = try NIOSSLClientHandler(
                    context: context,
                    serverHostname: nil,
                    customVerificationCallback: { certificates, verdict in
                        expiry.succeed(certificates.first.map { (Int($0.notValidBefore), Int($0.notValidAfter)) })
                        verdict.succeed(.failed)
                    }
                )
                try channel.pipeline.syncOperations.addHandler(handler)
            }
        }
        let timeout = loop.scheduleTask(in: EngineFailure.answerTime) { expiry.succeed(nil) }
        let channel = try? await bootstrap.connect(host: server.host, port: server.port).get()
        if channel == nil { expiry.succeed(nil) }
        let validity = try await expiry.futureResult.get()
        timeout.cancel()
        channel?.close(promise: nil)
        let now = Int(WallClock.now / 1_000_000)
        guard let validity else { return failure }
        if validity.until < now {
            return EngineFailure("the certificate of \(url.address) has expired: renew it on the server")
        }
        if validity.from > now {
            return EngineFailure(
                "the certificate of \(url.address) is not valid yet: compare the clocks of both machines"
            )
        }
        return failure
    }
}
