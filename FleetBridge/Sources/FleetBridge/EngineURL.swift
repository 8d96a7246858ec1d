import RESP

/// The address of a server.
struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
    var host: String
    var port: Int

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The engine's address, the credentials and the settings, from a URL: `rediss://USER:PASSWORD@HOST:PORT/?namespace=NAME`, or
/// `rediss://USER:PASSWORD@SENTINEL:PORT,SENTINEL:PORT/?sentinel=PRIMARY` if sentinels know the engine's address.
///
/// It is not printable on purpose, because it holds the password.
struct EngineURL: Equatable, Sendable {
    /// Why a URL cannot be used: a sentence that names no credential.
    struct Invalid: Error, Equatable, CustomStringConvertible {
        let description: String

        init(_ sentence: String) { description = sentence }
    }

    /// Whether the connection is encrypted: `rediss:`.
    var usesTLS = false
    /// The user and the password of the engine.
    var login = Login()
    /// The server that is connected to; nil until the sentinels have been asked for it.
    var server: ServerAddress?
    /// The sentinels that know the engine's address; none if the URL has it.
    var sentinels: [ServerAddress] = []
    /// The name that the sentinels have for the engine; nil without sentinels.
    var primary: String?
    /// The user and the password of the sentinels.
    var sentinelLogin = Login()
    /// Whether the server is a sentinel.
    var isSentinel = false
    /// The name in front of every key.
    var namespace = "fleet"
    /// Microseconds before a deadline in which a countdown is not changed.
    var margin: Int64 = 50_000
    /// The file of the certificates that are trusted; nil for the system's.
    var authorities: String?
    /// The files of the client's certificate and key.
    var certificate: String?
    var privateKey: String?
    /// How many replicas must acknowledge a change, if the URL has the number.
    private var demandedAcknowledgements: Int?

    /// How many replicas must acknowledge a change: with sentinels, which replace the engine by a replica, one.
    var acknowledgements: Int { demandedAcknowledgements ?? (primary == nil ? 0 : 1) }

    /// A user and a password.
    struct Login: Equatable, Sendable {
        var user: String?
        var password: String?

        /// The command that logs in; nil without a password.
        var command: RESPCommand? {
            guard let password else { return nil }
            return RESPCommand(["AUTH"] + (user.map { [$0] } ?? []) + [password])
        }
    }

    /// The server's address as log lines name it, without credentials.
    var address: String { server.map { "\($0)" } ?? "the primary '\(primary ?? "")'" }

    /// The same with the engine at an address.
    func engine(at address: ServerAddress) -> EngineURL {
        var url = self
        url.server = address
        return url
    }

    /// The same for a sentinel.
    func sentinel(at address: ServerAddress) -> EngineURL {
        var url = engine(at: address)
        url.login = sentinelLogin
        url.isSentinel = true
        return url
    }

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
        let places = try readAuthority(rest[..<end])
        let (path, query) = Self.split(String(rest[end...]), at: "?")
        guard path.isEmpty || path == "/" else {
            throw Invalid("invalid path '\(path)': use / or none, because channels have no database")
        }
        guard !(query ?? "").contains("#"), !path.contains("#") else {
            throw Invalid("invalid URL: it has a fragment (#)")
        }
        var names: Set<String> = []
        for parameter in (query ?? "").split(separator: "&") {
            let (name, value) = Self.split(String(parameter), at: "=")
            guard names.insert(name).inserted else {
                throw Invalid("the parameter '\(name)' is given twice: use it once")
            }
            try readParameter(name, value ?? "")
        }
        try assign(places.map { ServerAddress(host: $0.host, port: $0.port ?? (primary == nil ? 6_379 : 26_379)) })
        try check()
    }

    /// Reads the credentials.
    ///
    /// - Returns: the hosts, and their ports if the URL has them.
    private mutating func readAuthority(_ authority: Substring) throws(Invalid) -> [(host: String, port: Int?)] {
        var place = authority
        if let at = authority.lastIndex(of: "@") {
            place = authority[authority.index(after: at)...]
            let (user, password) = Self.split(String(authority[..<at]), at: ":")
            guard let name = Self.decode(user), let secret = Self.decode(password ?? "") else {
                throw Invalid(
                    "invalid user or password: use %XX for a byte that is not a letter, a digit or one of -._~"
                )
            }
            guard password != nil else { throw Invalid("invalid URL: a user needs a password, USER:PASSWORD@HOST") }
            login = Login(user: name.isEmpty ? nil : name, password: secret)
        }
        var places: [(host: String, port: Int?)] = []
        for part in place.split(separator: ",", omittingEmptySubsequences: false) {
            places.append(try Self.readPlace(part))
        }
        return places
    }

    private static func readPlace(_ text: Substring) throws(Invalid) -> (host: String, port: Int?) {
        var place = text
        let host: String
        if place.first == "[", let end = place.firstIndex(of: "]") {
            host = String(place[place.index(after: place.startIndex)..<end])
            place = place[place.index(after: end)...]
        } else {
            host = String(place.prefix { $0 != ":" })
            place = place.dropFirst(host.count)
        }
        // A user and a password without a host have one colon.
        guard place.isEmpty || place.first == ":", place.count(where: { $0 == ":" }) < 2, host != "[" else {
            throw Invalid("invalid host: use HOST:PORT, with an IPv6 address in brackets, as in [::1]:6379")
        }
        guard !host.isEmpty else { throw Invalid("invalid URL: it names no host") }
        guard !place.isEmpty else { return (host, nil) }
        // An invalid port may be a password in the wrong place, so it is not named.
        guard let port = Int(place.dropFirst()), (1...65_535).contains(port) else {
            throw Invalid("invalid port: use a number from 1 to 65535")
        }
        return (host, port)
    }

    /// Takes the addresses of the URL for the sentinels, or for the engine.
    private mutating func assign(_ addresses: [ServerAddress]) throws(Invalid) {
        if primary != nil {
            sentinels = addresses
        } else if addresses.count == 1 {
            server = addresses[0]
        } else {
            throw Invalid("invalid URL: several hosts are sentinels, and need the name of their primary, sentinel=NAME")
        }
    }

    private mutating func readParameter(_ name: String, _ encoded: String) throws(Invalid) {
        guard let value = Self.decode(encoded), !value.isEmpty else {
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
            demandedAcknowledgements = count
        case "margin":
            guard let milliseconds = Int64(value), (10...1_000).contains(milliseconds) else {
                throw Invalid("invalid margin '\(value)': use a number of milliseconds from 10 to 1000")
            }
            margin = 1_000 * milliseconds
        case "sentinel": primary = value
        case "sentineluser": sentinelLogin.user = value
        case "sentinelpassword": sentinelLogin.password = value
        default: throw Invalid("unknown parameter '\(name)': use \(Self.parameters)")
        }
    }

    private static let parameters = "namespace, ca, cert, key, acks, margin, sentinel, sentineluser or sentinelpassword"

    private func check() throws(Invalid) {
        guard primary != nil || sentinelLogin == Login() else {
            throw Invalid("sentineluser and sentinelpassword need the name of the primary, sentinel=NAME")
        }
        guard sentinelLogin.user == nil || sentinelLogin.password != nil else {
            throw Invalid("sentineluser needs sentinelpassword: use both, or the password alone")
        }
        guard usesTLS || (authorities ?? certificate ?? privateKey) == nil else {
            throw Invalid("ca, cert and key are parameters of TLS: use rediss: instead of redis:")
        }
        guard (certificate == nil) == (privateKey == nil) else {
            throw Invalid("cert and key belong together: use both or none")
        }
    }

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
