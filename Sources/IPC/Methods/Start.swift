public import Varlink

/// Starts a countdown of `durationUSec` or until `deadlineUSec`, not both; where the key is running or paused,
/// `ifRunning` decides.
public struct Start: Method {
    public static let name = "Start"

    /// UTF-8, 1 to 255 bytes, no control characters.
    public var key: String
    /// Microseconds; 60 s where neither it nor a deadline is given.
    public var durationUSec: Int64?
    /// Microseconds since 1970; makes the countdown follow the system clock.
    public var deadlineUSec: Int64?
    /// `attach` where it is not given.
    public var ifRunning: IfRunning?
    /// What to call it.
    public var label: String?
    /// What to keep with it.
    public var metadata: [String: String]?
    /// Whether its ending is told to who watches or waits, and not kept.
    public var forget: Bool?

    @inlinable
    public init(
        key: String,
        durationUSec: Int64? = nil,
        deadlineUSec: Int64? = nil,
        ifRunning: IfRunning? = nil,
        label: String? = nil,
        metadata: [String: String]? = nil,
        forget: Bool? = nil
    ) {
        self.key = key
        self.durationUSec = durationUSec
        self.deadlineUSec = deadlineUSec
        self.ifRunning = ifRunning
        self.label = label
        self.metadata = metadata
        self.forget = forget
    }

    public func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("durationUSec", durationUSec)
        writer.memberIfPresent("deadlineUSec", deadlineUSec)
        writer.memberIfPresent("ifRunning", ifRunning)
        writer.memberIfPresent("label", label)
        writer.memberIfPresent("metadata", metadata)
        writer.memberIfPresent("forget", forget)
    }

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        var key = ""
        self = try Self.keyless(in: object) { key = String(copying: $0) }
        self.key = key
    }

    /// Reads the members but for the key, for whoever has keys in other words: the closure is given it.
    @inlinable
    public static func keyless(in object: JSONObject, key: (UTF8Span) -> Void) throws(InvalidParameter) -> Start {
        try object.allowOnly("key", "durationUSec", "deadlineUSec", "ifRunning", "label", "metadata", "forget")
        try object.withString("key", key)
        return Start(
            key: "",
            durationUSec: try object.integerIfPresent("durationUSec"),
            deadlineUSec: try object.integerIfPresent("deadlineUSec"),
            ifRunning: try object.valueIfPresent("ifRunning", as: IfRunning.self),
            label: try object.stringIfPresent("label"),
            metadata: try object.stringMapIfPresent("metadata"),
            forget: try object.booleanIfPresent("forget")
        )
    }

    /// What was done, and the countdown as it is now.
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// What was done.
        public var outcome: Outcome
        /// The countdown under the key from now on.
        public var countdown: Countdown

        public init(outcome: Outcome, countdown: Countdown) {
            self.outcome = outcome
            self.countdown = countdown
        }

        public func encode(into writer: inout JSONWriter) { Self.encode(outcome, countdown, into: &writer) }

        /// Writes the members, for whoever has the countdown in other words.
        @inlinable
        public static func encode(_ outcome: Outcome, _ countdown: some JSONEncodable, into writer: inout JSONWriter) {
            writer.members(atMost: 32) { $0.first("outcome", word: outcome.word) }
            writer.member("countdown", countdown)
        }

        public init(decoding object: JSONObject) throws(InvalidParameter) {
            outcome = try object.value("outcome", as: Outcome.self)
            countdown = try object.decoded("countdown", as: Countdown.self)
        }
    }
}
