import NIOCore

/// The engine's address, the credentials and the settings, from a URL: `rediss://USER:PASSWORD@HOST:PORT/?namespace=NAME`.
///
/// It is not printable on purpose, because it holds the password.
struct BackendURL: Equatable, Sendable {
    /// Why a URL cannot be used: a sentence that names no credential.
    struct Invalid: Error, Equatable, CustomStringConvertible {
        let description: String

        init(_ sentence: String) { description = sentence }
    }

    /// Whether the connection is encrypted: `rediss:`.
    var usesTLS = false
    var user: String?
    var password: String?
    var host = ""
    var port = 6_379
    /// The name in front of every key.
    var namespace = "fleet"
    /// The file of the certificates that are trusted; nil for the system's.
    var authorities: String?
    /// The files of the client's certificate and key.
    var certificate: String?
    var privateKey: String?
    /// How many replicas have to acknowledge a change.
    var acknowledgements = 0

    /// The engine's address as log lines name it, without credentials.
    var address: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    init(parsing text: String) throws(Invalid) {
        let (scheme, rest) = Self.split(text, at: "://")
        guard let rest, scheme == "redis" || scheme == "rediss" else {
            throw Invalid("invalid URL: use redis://HOST:PORT/?namespace=NAME, or rediss: for TLS")
        }
        usesTLS = scheme == "rediss"
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        guard !rest[end...].contains("@") else {
            throw Invalid("invalid URL: in the user and the password write /, ?, # and @ as %2F, %3F, %23 and %40")
        }
        try readAuthority(rest[..<end])
        let (path, query) = Self.split(String(rest[end...]), at: "?")
        guard path.isEmpty || path == "/" else {
            throw Invalid("invalid path '\(path)': use / or none, because channels have no database")
        }
        guard !(query ?? "").contains("#"), !path.contains("#") else {
            throw Invalid("invalid URL: it has a fragment (#)")
        }
        for parameter in (query ?? "").split(separator: "&") { try readParameter(String(parameter)) }
        try check()
    }

    private mutating func readAuthority(_ authority: Substring) throws(Invalid) {
        var place = authority
        if let at = authority.lastIndex(of: "@") {
            place = authority[authority.index(after: at)...]
            let (user, password) = Self.split(String(authority[..<at]), at: ":")
            guard let name = Self.decode(user), let secret = Self.decode(password ?? "") else {
                throw Invalid(
                    "invalid user or password: use %XX for a byte that is not a letter, a digit or one of -._~"
                )
            }
            self.user = name.isEmpty ? nil : name
            self.password = password == nil ? nil : secret
            guard self.password != nil else {
                throw Invalid("invalid URL: a user needs a password, USER:PASSWORD@HOST")
            }
        }
        guard !place.contains(",") else { throw Self.sentinel }
        if place.first == "[", let end = place.firstIndex(of: "]") {
            host = String(place[place.index(after: place.startIndex)..<end])
            place = place[place.index(after: end)...]
        } else {
            host = String(place.prefix { $0 != ":" })
            place = place.dropFirst(host.count)
        }
        guard !host.isEmpty else { throw Invalid("invalid URL: it names no host") }
        guard !place.isEmpty else { return }
        // An invalid port may be a password in the wrong place, so it is not named.
        guard place.first == ":", let port = Int(place.dropFirst()), (1...65_535).contains(port) else {
            throw Invalid("invalid port: use a number from 1 to 65535")
        }
        self.port = port
    }

    private mutating func readParameter(_ parameter: String) throws(Invalid) {
        let (name, encoded) = Self.split(parameter, at: "=")
        guard let value = Self.decode(encoded ?? ""), !value.isEmpty else {
            throw Invalid("invalid parameter '\(name)': use \(name)=VALUE, with %XX for special characters")
        }
        switch name {
        case "namespace":
            let isNamed = value.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-".utf8.contains($0) }
            guard isNamed, value.utf8.count <= 32 else {
                throw Invalid("invalid namespace '\(value)': use 1 to 32 of the characters a-z, 0-9 and -")
            }
            namespace = value
        case "ca": authorities = value
        case "cert": certificate = value
        case "key": privateKey = value
        case "acks":
            guard let count = Int(value), (0...8).contains(count) else {
                throw Invalid("invalid acks '\(value)': use a number from 0 to 8")
            }
            acknowledgements = count
        case "sentinel": throw Self.sentinel
        default: throw Invalid("unknown parameter '\(name)': use namespace, ca, cert, key or acks")
        }
    }

    private func check() throws(Invalid) {
        guard usesTLS || (authorities ?? certificate ?? privateKey) == nil else {
            throw Invalid("ca, cert and key are parameters of TLS: use rediss: instead of redis:")
        }
        guard (certificate == nil) == (privateKey == nil) else {
            throw Invalid("cert and key belong together: use both or none")
        }
    }

    private static let sentinel = Invalid("Sentinel is not supported yet: use one host, and no parameter sentinel")

    private static func split(_ text: String, at separator: String) -> (String, String?) {
        guard let range = text.firstRange(of: separator) else { return (text, nil) }
        return (String(text[..<range.lowerBound]), String(text[range.upperBound...]))
    }

    /// The text with its %XX decoded; nil if one of them is not two digits, or if the result is not UTF-8.
    private static func decode(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
