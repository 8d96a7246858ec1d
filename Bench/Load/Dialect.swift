/// A call to a server about a key.
enum LoadCall: String {
    /// Begin a countdown of an hour.
    case start
    /// Get the remaining time.
    case get
    /// Send every watcher of the key an event.
    case change
}

/// The protocol of a server: the bytes to send, and how to recognize its answers.
protocol Dialect {
    /// The byte that ends a reply.
    var end: UInt8 { get }
    /// The bytes of the request.
    func request(_ call: LoadCall, _ key: String) -> String
    /// Whether a reply reports success; `start` fails if the key is running.
    func grants(_ call: LoadCall, _ reply: Received) -> Bool
    /// Begins a countdown that ends at a millisecond of the Unix epoch, of 13 digits.
    func start(_ key: String, at deadline: String) -> String
    /// Subscribes to ends.
    var watchEndings: String { get }
    /// A text in the last message of the answer to `watchEndings`.
    var watching: String { get }
    /// The text before the key of each end.
    var endingMarker: String { get }
    /// Subscribes to the changes of a key.
    func watch(_ key: String) -> String
    /// A text in the last message of the answer to `watch`.
    func watching(_ key: String) -> String
    /// A text that occurs once in each message about a change.
    var changeMarker: String { get }
}

struct CountdowndDialect: Dialect {
    let end: UInt8 = 0
    let watchEndings = call("Watch", "\"tickUSec\":0", more: true)
    let watching = "\"type\":\"synced\""
    let endingMarker = "\"type\":\"finished\""
    let changeMarker = "\"type\":\"adjusted\""

    private let started = Array("{\"parameters\":{\"outcome\":\"started\"".utf8)
    private let answered = Array("{\"parameters\":{".utf8)

    func request(_ call: LoadCall, _ key: String) -> String {
        switch call {
        case .start: Self.call("Start", "\"key\":\"\(key)\",\"durationUSec\":3600000000")
        case .get: Self.call("Get", "\"key\":\"\(key)\"")
        case .change: Self.call("Adjust", "\"key\":\"\(key)\",\"byUSec\":1")
        }
    }

    func grants(_ call: LoadCall, _ reply: Received) -> Bool { reply.begins(with: call == .start ? started : answered) }

    func start(_ key: String, at deadline: String) -> String {
        Self.call("Start", "\"key\":\"\(key)\",\"deadlineUSec\":\(deadline)000")
    }

    func watch(_ key: String) -> String { Self.call("Watch", "\"keys\":[\"\(key)\"],\"tickUSec\":0", more: true) }

    func watching(_ key: String) -> String { watching }

    /// One watcher that gets the remaining time of each countdown every second.
    static let watchTicks = call("Watch", "\"tickUSec\":1000000", more: true)

    private static func call(_ method: String, _ parameters: String, more: Bool = false) -> String {
        "{\"method\":\"io.countdownd.\(method)\",\"parameters\":{\(parameters)}\(more ? ",\"more\":true" : "")}\0"
    }
}

struct RedisDialect: Dialect {
    let end = UInt8(ascii: "\n")
    let watchEndings = command("SUBSCRIBE", "__keyevent@0__:expired")
    let watching = ":expired\r\n:1\r\n"
    let endingMarker = ":expired\r\n$"
    let changeMarker = "$7\r\nmessage\r\n"

    private let done = Array("+OK".utf8)
    private let number = Array(":".utf8)
    private let negative = Array(":-".utf8)

    func request(_ call: LoadCall, _ key: String) -> String {
        switch call {
        case .start: Self.command("SET", key, "v", "NX", "PX", "3600000")
        case .get: Self.command("PTTL", key)
        case .change: Self.command("PUBLISH", key, "v")
        }
    }

    /// A key that runs already is answered with nil, an unknown one with a negative number.
    func grants(_ call: LoadCall, _ reply: Received) -> Bool {
        call == .start ? reply.begins(with: done) : reply.begins(with: number) && !reply.begins(with: negative)
    }

    func start(_ key: String, at deadline: String) -> String { Self.command("SET", key, "v", "NX", "PXAT", deadline) }

    func watch(_ key: String) -> String { Self.command("SUBSCRIBE", key) }

    func watching(_ key: String) -> String { "\(key)\r\n:1\r\n" }

    private static func command(_ words: String...) -> String {
        words.reduce("*\(words.count)\r\n") { $0 + "$\($1.utf8.count)\r\n\($1)\r\n" }
    }
}
