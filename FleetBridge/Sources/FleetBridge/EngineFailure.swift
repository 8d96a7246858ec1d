import NIOCore
import NIOPosix
import NIOSSL
import RESP
import System

/// Why the engine cannot be used: one sentence, without credentials.
struct EngineFailure: Error, Equatable, CustomStringConvertible {
    private let sentence: String
    /// A possible fault of the URL if it has never led to an engine.
    private let hint: String

    init(_ sentence: String, hint: String = "") { (self.sentence, self.hint) = (sentence, hint) }

    /// Several failures at once.
    init(_ failures: [EngineFailure]) {
        sentence = failures.map(\.sentence).joined(separator: "; ")
        hint = failures.first { !$0.hint.isEmpty }?.hint ?? ""
    }

    var description: String { sentence + hint }

    /// The same of a URL that has led to the engine.
    var withoutHint: EngineFailure { EngineFailure(sentence) }

    /// How long the engine may take for an answer.
    static let answerTime = TimeAmount.seconds(2)

    // MARK: The engine's errors

    /// The bytes of the engine's words that are repeated.
    private static let wordsLimit = 300

    /// An error that the engine has replied. Its words are repeated only if they do not hold the password, because some
    /// errors repeat the arguments of a command.
    init(reply whole: String, to command: String, of url: EngineURL) {
        let code = String(whole.prefix { $0 != " " })
        // Redis repeats the beginning of the arguments, which may end inside the password.
        let repeatsArguments = command == "AUTH" && whole.contains("with args beginning with")
        let isSecret = repeatsArguments || url.login.password.map { !$0.isEmpty && whole.contains($0) } ?? false
        let words = isSecret ? "its words hold the password" : whole.beginning(Self.wordsLimit)
        let server = url.address
        let sentence =
            switch code {
            case "WRONGPASS" where url.isSentinel: "\(server) rejects sentineluser or sentinelpassword of the URL"
            case "WRONGPASS": "\(server) rejects the user name or the password of the URL"
            case "NOAUTH" where url.isSentinel: "\(server) demands a password: use sentinelpassword=PASSWORD"
            case "NOAUTH": "\(server) demands a password: use a URL with USER:PASSWORD@"
            case "NOPERM": Self(permission: words, to: command, of: url).description
            case "LOADING": "\(server) is loading its data: \(words)"
            case "BUSY": "\(server) is busy with a script: \(words)"
            case "MISCONF": "\(server) cannot save and refuses changes: \(words)"
            case "READONLY": Self(replica: url).description
            case "MASTERDOWN": "\(server) is a replica that has lost its primary"
            case "NOREPLICAS": "\(server) has too few replicas and refuses changes: \(words)"
            case "OOM": "\(server) is out of memory and refuses changes: raise its maxmemory"
            case "MOVED", "ASK", "CLUSTERDOWN", "CROSSSLOT":
                "\(server) is a node of a cluster, which is not supported: use a single server"
            case "WRONGTYPE":
                "\(server) holds a key of the namespace \(url.namespace) that is of another type: \(words)"
            case "DENIED": "\(server) denies the connection: it is in protected mode and demands a password"
            case _ where command == "AUTH" && words.contains("without any password"):
                "\(server) has no password for the default user: remove "
                    + (url.isSentinel ? "sentinelpassword from the URL" : "it from the URL")
            case _ where command == "AUTH": "\(server) rejects AUTH: \(words)"
            case _ where command.hasPrefix("SENTINEL") && words.contains("unknown command"):
                "\(server) is no sentinel: use the address of a sentinel, or no parameter sentinel"
            // The words of Redis 7.0, and of later versions.
            case _
            where words.contains("The user executing the script can't") || words.contains("ACL failure in script"):
                Self(permission: words, to: command, of: url).description
            default: "\(server) answers \(command) with an error: \(words)"
            }
        self.init(sentence)
    }

    /// An answer that no engine gives.
    init(unexpectedReplyTo command: String, of url: EngineURL) {
        let owner = command.hasPrefix("EVAL") ? "the script's" : "its"
        self.init("\(url.address) answers \(command) with something else than \(owner) reply")
    }

    /// Names the permission that is missing, as ACL SETUSER writes it.
    init(permission words: String, to command: String, of url: EngineURL) {
        let (missing, rule) =
            if !words.contains("access") {
                (command, "+\(command.lowercased())")
            } else if words.contains("channel") {
                ("the channel of \(command)", "&cd:{\(url.namespace)/*")
            } else {
                ("the keys of \(command)", "~cd:{\(url.namespace)}:* ~cd:{\(url.namespace)/*")
            }
        self.init("the user of \(url.address) lacks a permission for \(missing): allow it \(rule)")
    }

    /// A server that is a replica.
    init(replica url: EngineURL) {
        let advice = url.primary == nil ? "use the address of its primary" : "waiting for the sentinels to name another"
        self.init("\(url.address) is a replica: \(advice)")
    }

    /// The codes of errors that the engine replies before it has carried out any part of a command.
    private static let earlyCodes: Set<Substring> = [
        "NOPERM", "NOAUTH", "LOADING", "BUSY", "MISCONF", "READONLY", "MASTERDOWN", "NOREPLICAS", "OOM", "MOVED", "ASK",
        "CLUSTERDOWN", "CROSSSLOT", "DENIED", "NOSCRIPT",
    ]

    /// Whether an error means that the engine has carried out no part of the command.
    static func isEarly(_ words: String) -> Bool { earlyCodes.contains(words.prefix { $0 != " " }) }

    /// Whether an error means that this server must be checked again.
    static func endsSession(_ words: String) -> Bool {
        ["READONLY", "LOADING", "NOAUTH", "MASTERDOWN"].contains(words.prefix { $0 != " " })
    }

    // MARK: The connection's errors

    /// A connection that could not be made, or that broke.
    init(_ error: any Error, of url: EngineURL) {
        switch error {
        case let failure as EngineFailure: self = failure
        case let failure as NIOConnectionError: self.init(connecting: failure, to: url)
        case let failure as IOError:
            self.init("the connection to \(url.address) broke: \(systemMessage(failure.errnoCode))")
        case ChannelError.connectTimeout: self.init("no answer from \(url.address) within 2 s")
        case let failure as RESPError: self.init(protocolError: failure, of: url)
        case let failure as NIOSSLExtraError where failure == .failedToValidateHostname:
            self.init(
                "the certificate of \(url.address) is not made out to '\(url.server?.host ?? "")': use the name that it contains"
            )
        case let failure as NIOSSLError: self.init(handshake: "\(failure)", with: url)
        case let failure as BoringSSLError: self.init(handshake: "\(failure)", with: url)
        default: self.init("the connection to \(url.address) broke: \(error)")
        }
    }

    private init(connecting failure: NIOConnectionError, to url: EngineURL) {
        guard let last = failure.connectionErrors.last else {
            self.init("cannot resolve the host '\(url.server?.host ?? "")'")
            return
        }
        switch last.error {
        case let error as IOError: self.init("cannot connect to \(url.address): \(systemMessage(error.errnoCode))")
        case ChannelError.connectTimeout: self.init("no answer from \(url.address) within 2 s")
        default: self.init("cannot connect to \(url.address): \(last.error)")
        }
    }

    private init(protocolError: RESPError, of url: EngineURL) {
        switch protocolError {
        case .unexpectedByte(0x15) where !url.usesTLS:
            self.init("\(url.address) speaks TLS: use rediss: instead of redis:")
        case .unexpectedByte(let byte): self.init("\(url.address) is no Redis or Valkey: it sent the byte \(byte)")
        case .malformed: self.init("\(url.address) sent what is not RESP2: a length or a line end is invalid")
        case .lineTooLong(let limit), .bulkTooLong(let limit), .valueTooLong(let limit):
            self.init("\(url.address) sent a reply of more than \(limit) bytes")
        case .tooManyElements(let limit): self.init("\(url.address) sent a reply of more than \(limit) elements")
        case .tooDeep(let limit): self.init("\(url.address) sent a reply of more than \(limit) arrays in each other")
        }
    }

    private init(handshake error: String, with url: EngineURL) {
        if error.contains("WRONG_VERSION_NUMBER") {
            self.init("\(url.address) does not speak TLS: use redis: instead of rediss:")
        } else if error.contains("CERTIFICATE_VERIFY_FAILED") {
            self.init("the certificate of \(url.address) is not signed by an authority that is trusted: use ca=FILE")
        } else if error.contains("CERTIFICATE_REQUIRED") || error.contains("ALERT_HANDSHAKE_FAILURE") {
            self.init("\(url.address) demands a client certificate: use cert=FILE and key=FILE")
        } else if error.contains("ALERT_UNKNOWN_CA") || error.contains("ALERT_BAD_CERTIFICATE")
            || error.contains("ALERT_DECRYPT_ERROR") || error.contains("ALERT_CERTIFICATE")
        {
            self.init("\(url.address) rejects the client certificate of cert=")
        } else {
            self.init("TLS with \(url.address) failed: \(error)")
        }
    }
}

extension String {
    /// The first bytes of the text, because one character can have any number of bytes.
    func beginning(_ bytes: Int) -> String {
        utf8.count <= bytes ? self : String(decoding: utf8.prefix(bytes), as: UTF8.self)
    }
}
