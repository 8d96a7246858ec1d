public import Varlink

/// Starts or extends the countdowns of all cooldowns, or of none. A refusal is an answer, not an error.
package struct StartAll: Method {
    package static let name = "StartAll"

    package var cooldowns: [Cooldown]
    package var dryRun: Bool?

    package init(cooldowns: [Cooldown], dryRun: Bool? = nil) {
        self.cooldowns = cooldowns
        self.dryRun = dryRun
    }

    package func encode(into writer: inout JSONWriter) {
        writer.member("cooldowns", cooldowns)
        writer.memberIfPresent("dryRun", dryRun)
    }

    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        var cooldowns = JSONMember<[Cooldown]>("cooldowns")
        var dryRun = JSONMember<Bool>("dryRun")
        try reader.members { cooldowns.read(&$0) || dryRun.read(&$0) }
        self.cooldowns = try cooldowns.required
        self.dryRun = try dryRun.optional
    }

    /// Whether the cooldowns were accepted, and what each has room for.
    package struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        package var accepted: Bool
        package var rooms: [Cooldown.Room]
        package var retryAfterUSec: Int64?

        package init(accepted: Bool, rooms: [Cooldown.Room], retryAfterUSec: Int64? = nil) {
            self.accepted = accepted
            self.rooms = rooms
            self.retryAfterUSec = retryAfterUSec
        }

        package func encode(into writer: inout JSONWriter) {
            writer.member("accepted", accepted)
            writer.member("rooms", rooms)
            writer.memberIfPresent("retryAfterUSec", retryAfterUSec)
        }

        package init(from reader: inout JSONReader) throws(InvalidParameter) {
            accepted = try reader.member("accepted")
            rooms = try reader.member("rooms")
            retryAfterUSec = try reader.memberIfPresent("retryAfterUSec")
            reader.skipMembers()
        }
    }
}

/// A cooldown, or a limit of a rate, for ``AsyncClient/startAll(_:dryRun:)``.
public struct Cooldown: Sendable, Hashable, JSONEncodable, JSONDecodable {
    /// 1 to 255 bytes of UTF-8 without control characters.
    public var key: String
    package var durationUSec: Int64?
    package var upToUSec: Int64?
    /// A text for people.
    public var label: String?
    /// Values that the daemon only stores.
    public var metadata: TextMap<String>?
    /// Whether the daemon forgets the countdown at its end.
    public var forget: Bool?

    /// A cooldown, which accepts one call per duration; or with `upTo` a rate, which accepts `upTo / duration` calls at once.
    ///
    /// - Parameters:
    ///   - key: the key of the countdown.
    ///   - duration: how long the countdown runs; nil for 60 s. A call that weighs more has a longer duration.
    ///   - upTo: the most that may remain, at least the duration; nil if only a key that is free is accepted.
    ///   - label: a text for people.
    ///   - metadata: values that the daemon only stores.
    ///   - forget: whether the daemon forgets the countdown at its end.
    public init(
        _ key: String,
        for duration: Duration? = nil,
        upTo: Duration? = nil,
        label: String? = nil,
        metadata: TextMap<String>? = nil,
        forget: Bool? = nil
    ) {
        self.key = key
        self.durationUSec = duration?.microseconds
        self.upToUSec = upTo?.microseconds
        self.label = label
        self.metadata = metadata
        self.forget = forget
    }

    /// Writes the members; those that are nil are left out.
    public func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("durationUSec", durationUSec)
        writer.memberIfPresent("upToUSec", upToUSec)
        writer.memberIfPresent("label", label)
        writer.memberIfPresent("metadata", metadata)
        writer.memberIfPresent("forget", forget)
    }

    /// Throws the name of the member that is missing, unknown or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var durationUSec = JSONMember<Int64>("durationUSec")
        var upToUSec = JSONMember<Int64>("upToUSec")
        var label = JSONMember<String>("label")
        var metadata = JSONMember<TextMap<String>>("metadata")
        var forget = JSONMember<Bool>("forget")
        try reader.members {
            key.read(&$0) || durationUSec.read(&$0) || upToUSec.read(&$0) || label.read(&$0) || metadata.read(&$0)
                || forget.read(&$0)
        }
        self.key = try key.required
        self.durationUSec = try durationUSec.optional
        self.upToUSec = try upToUSec.optional
        self.label = try label.optional
        self.metadata = try metadata.optional
        self.forget = try forget.optional
    }
}

extension Cooldown {
    /// What a cooldown has room for, after the call.
    public struct Room: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// The key of the cooldown.
        public var key: String
        /// How many such calls would be accepted now, one after the other.
        public var left: Int64
        package var moreUSec: Int64?
        /// The countdown; nil if the key is neither running nor paused.
        public var countdown: Countdown?

        /// How long until one more is left; nil if everything is left, or if that cannot be known.
        public var more: Duration? { moreUSec.map(Duration.microseconds) }

        package init(key: String, left: Int64, moreUSec: Int64? = nil, countdown: Countdown? = nil) {
            self.key = key
            self.left = left
            self.moreUSec = moreUSec
            self.countdown = countdown
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("key", key)
            writer.member("left", left)
            writer.memberIfPresent("moreUSec", moreUSec)
            writer.memberIfPresent("countdown", countdown)
        }

        /// Unknown members, which a newer daemon may add, are skipped.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            key = try reader.member("key")
            left = try reader.member("left")
            moreUSec = try reader.memberIfPresent("moreUSec")
            countdown = try reader.memberIfPresent("countdown")
            reader.skipMembers()
        }
    }
}
