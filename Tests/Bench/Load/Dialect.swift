/// A call to a server about a key.
enum LoadCall: String {
    /// Begin a countdown of an hour.
    case start
    /// Get the remaining time.
    case get
    /// Take one of a rate of the key and one of a rate that all calls share, or neither.
    case startAll = "start-all"
    /// Send every watcher of the key an event.
    case change
}

/// The protocol of a server: the bytes to send, and how to recognize its answers.
protocol Dialect {
    /// The byte that ends a reply.
    var end: UInt8 { get }
    /// The bytes of the request.
    func request(_ call: LoadCall, _ key: String) -> String
    /// A call that has to come before the others, and is answered in one message; nil if there is none.
    func preparation(for call: LoadCall) -> String?
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
    private let accepted = Array("{\"parameters\":{\"accepted\":true".utf8)
    private let answered = Array("{\"parameters\":{".utf8)

    func request(_ call: LoadCall, _ key: String) -> String {
        switch call {
        case .start: Self.call("Start", "\"key\":\"\(key)\",\"durationUSec\":3600000000")
        case .get: Self.call("Get", "\"key\":\"\(key)\"")
        case .startAll:
            Self.call("StartAll", "\"cooldowns\":[\(Self.rate(key, 60_000_000)),\(Self.rate("all", 1))]")
        case .change: Self.call("Adjust", "\"key\":\"\(key)\",\"byUSec\":1")
        }
    }

    func preparation(for call: LoadCall) -> String? { nil }

    func grants(_ call: LoadCall, _ reply: Received) -> Bool {
        switch call {
        case .start: reply.begins(with: started)
        case .startAll: reply.begins(with: accepted)
        case .get, .change: reply.begins(with: answered)
        }
    }

    private static func rate(_ key: String, _ duration: Int) -> String {
        "{\"key\":\"\(key)\",\"durationUSec\":\(duration),\"upToUSec\":3600000000,\"forget\":true}"
    }

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
    private let one = Array(":1".utf8)
    private let number = Array(":".utf8)
    private let negative = Array(":-".utf8)

    func request(_ call: LoadCall, _ key: String) -> String {
        switch call {
        case .start: Self.command("SET", key, "v", "NX", "PX", "3600000")
        case .get: Self.command("PTTL", key)
        case .startAll:
            Self.command("EVALSHA", Self.scriptHash, "2", key, "all", "60000000", "3600000000", "1", "3600000000")
        case .change: Self.command("PUBLISH", key, "v")
        }
    }

    func preparation(for call: LoadCall) -> String? {
        call == .startAll ? Self.command("SCRIPT", "LOAD", Self.script) : nil
    }

    /// A GCRA for two keys: each key has the instant at which nothing of its rate is used any more.
    private static let script = """
        local t = redis.call('TIME') local now, ends = t[1] * 1000000 + t[2], {} \
        for i = 1, 2 do ends[i] = math.max(tonumber(redis.call('GET', KEYS[i]) or 0), now) + ARGV[2 * i - 1] \
        if ends[i] - now > tonumber(ARGV[2 * i]) then return 0 end end \
        for i = 1, 2 do redis.call('SET', KEYS[i], string.format('%.0f', ends[i]), 'PXAT', math.ceil(ends[i] / 1000)) end return 1
        """
    /// Of the script, as Redis names it.
    private static let scriptHash = "a897e2617f2313eb3b80be26fcacc8fa9d14f234"

    /// A key that runs already is answered with nil, an unknown one with a negative number.
    func grants(_ call: LoadCall, _ reply: Received) -> Bool {
        switch call {
        case .start: reply.begins(with: done)
        case .startAll: reply.begins(with: one)
        case .get, .change: reply.begins(with: number) && !reply.begins(with: negative)
        }
    }

    func start(_ key: String, at deadline: String) -> String { Self.command("SET", key, "v", "NX", "PXAT", deadline) }

    func watch(_ key: String) -> String { Self.command("SUBSCRIBE", key) }

    func watching(_ key: String) -> String { "\(key)\r\n:1\r\n" }

    private static func command(_ words: String...) -> String {
        words.reduce("*\(words.count)\r\n") { $0 + "$\($1.utf8.count)\r\n\($1)\r\n" }
    }
}
