/// What is said to a server, and how its answers are told apart.
///
/// A request is a template with the digits of a key's number in it, so that the next one costs some stores.
protocol Dialect {
    /// The byte that ends a reply.
    var end: UInt8 { get }
    /// What stands at the beginning of a reply that is not a refusal.
    var welcome: [UInt8] { get }
    /// Begins a countdown of an hour.
    func start(_ key: String) -> String
    /// Begins a countdown that ends at a millisecond of the Unix epoch, of 13 digits.
    func start(_ key: String, at deadline: String) -> String
    func get(_ key: String) -> String
    /// Has endings told.
    var watchEndings: String { get }
    /// What stands before the key of each ending.
    var endingMarker: String { get }
    /// Has what becomes of a key told.
    func watch(_ key: String) -> String
    /// What stands before each message that `change` causes.
    var changeMarker: String { get }
    /// Causes a message to everyone who watches a key.
    func change(_ key: String) -> String
}

struct CountdowndDialect: Dialect {
    let end: UInt8 = 0
    let welcome = Array("{\"p".utf8)
    let watchEndings = call("Watch", "\"tickUSec\":0", more: true)
    let endingMarker = "\"type\":\"finished\""
    let changeMarker = "\"type\":\"adjusted\""

    func start(_ key: String) -> String { Self.call("Start", "\"key\":\"\(key)\",\"durationUSec\":3600000000") }

    func start(_ key: String, at deadline: String) -> String {
        Self.call("Start", "\"key\":\"\(key)\",\"deadlineUSec\":\(deadline)000")
    }

    func get(_ key: String) -> String { Self.call("Get", "\"key\":\"\(key)\"") }

    func watch(_ key: String) -> String { Self.call("Watch", "\"keys\":[\"\(key)\"],\"tickUSec\":0", more: true) }

    func change(_ key: String) -> String { Self.call("Adjust", "\"key\":\"\(key)\",\"byUSec\":1") }

    /// One watcher that is told every second what is left of each countdown.
    static let watchTicks = call("Watch", "\"tickUSec\":1000000", more: true)

    private static func call(_ method: String, _ parameters: String, more: Bool = false) -> String {
        "{\"method\":\"io.countdownd.\(method)\",\"parameters\":{\(parameters)}\(more ? ",\"more\":true" : "")}\0"
    }
}

struct RedisDialect: Dialect {
    let end = UInt8(ascii: "\n")
    let welcome: [UInt8] = []
    let watchEndings = command("SUBSCRIBE", "__keyevent@0__:expired")
    let endingMarker = ":expired\r\n$"
    let changeMarker = "$7\r\nmessage\r\n"

    func start(_ key: String) -> String { Self.command("SET", key, "v", "NX", "PX", "3600000") }

    func start(_ key: String, at deadline: String) -> String { Self.command("SET", key, "v", "NX", "PXAT", deadline) }

    func get(_ key: String) -> String { Self.command("PTTL", key) }

    func watch(_ key: String) -> String { Self.command("SUBSCRIBE", key) }

    func change(_ key: String) -> String { Self.command("PUBLISH", key, "v") }

    private static func command(_ words: String...) -> String {
        words.reduce("*\(words.count)\r\n") { $0 + "$\($1.utf8.count)\r\n\($1)\r\n" }
    }
}
