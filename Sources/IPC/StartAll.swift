public import Varlink

/// Starts or extends the countdowns of all cooldowns, or of none: several limits of one call, such as 3 a minute and 30 a day.
///
/// A refusal is an answer, not an error. Errors: `LimitReached`, `StorageFailed`, `Unreachable`; in a fleet `LimitReached` with
/// `cooldownsInFleet` if there is more than one.
public struct StartAll: Method {
    /// The method's name on the wire, without the interface.
    public static let name = "StartAll"

    /// At most 16, each key once.
    public var cooldowns: [Cooldown]
    /// Whether nothing is changed: the answer is the one that the same call would get now.
    public var dryRun: Bool?

    /// A call for cooldowns.
    public init(cooldowns: [Cooldown], dryRun: Bool? = nil) {
        self.cooldowns = cooldowns
        self.dryRun = dryRun
    }

    /// Writes the parameters; those that are nil are left out.
    public func encode(into writer: inout JSONWriter) {
        writer.member("cooldowns", cooldowns)
        writer.memberIfPresent("dryRun", dryRun)
    }

    /// Reads the parameters.
    ///
    /// - Throws: the name of the parameter that is missing, unknown or invalid, or of a member of a cooldown.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var cooldowns = JSONMember<[Cooldown]>("cooldowns")
        var dryRun = JSONMember<Bool>("dryRun")
        try reader.members { cooldowns.read(&$0) || dryRun.read(&$0) }
        self.cooldowns = try cooldowns.required
        self.dryRun = try dryRun.optional
    }

    /// Whether the cooldowns were accepted, and what each has room for.
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// Whether all countdowns were started or extended; of a dry run, whether they would be.
        public var accepted: Bool
        /// In the order of the cooldowns.
        public var rooms: [Cooldown.Room]
        /// Microseconds until the same call is accepted if nothing else changes; nil if it was, or if that cannot be known.
        public var retryAfterUSec: Int64?

        /// A reply.
        public init(accepted: Bool, rooms: [Cooldown.Room], retryAfterUSec: Int64? = nil) {
            self.accepted = accepted
            self.rooms = rooms
            self.retryAfterUSec = retryAfterUSec
        }

        /// Writes the members of the reply.
        public func encode(into writer: inout JSONWriter) {
            writer.member("accepted", accepted)
            writer.member("rooms", rooms)
            writer.memberIfPresent("retryAfterUSec", retryAfterUSec)
        }

        /// Reads the reply and skips members that a newer daemon may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var accepted = JSONMember<Bool>("accepted")
            var rooms = JSONMember<[Cooldown.Room]>("rooms")
            var retryAfterUSec = JSONMember<Int64>("retryAfterUSec")
            reader.knownMembers { accepted.read(&$0) || rooms.read(&$0) || retryAfterUSec.read(&$0) }
            self.accepted = try accepted.required
            self.rooms = try rooms.required
            self.retryAfterUSec = try retryAfterUSec.optional
        }
    }
}

/// A cooldown of ``StartAll``: as a ``Start`` with `fail`, or with `extend` and `upToUSec`.
public struct Cooldown: Sendable, Hashable, JSONEncodable, JSONDecodable {
    /// 1 to 255 bytes of UTF-8 without control characters.
    public var key: String
    /// Microseconds; 60 s if it is nil. A call that weighs more has a longer duration.
    public var durationUSec: Int64?
    /// Microseconds: the most that may remain, at least the duration. Nil if only a key that is free is accepted.
    public var upToUSec: Int64?
    /// A text for people.
    public var label: String?
    /// Values that the daemon only stores.
    public var metadata: TextMap<String>?
    /// Whether the daemon forgets the countdown at its end.
    public var forget: Bool?

    /// A cooldown; members that are nil have the daemon's defaults.
    public init(
        key: String,
        durationUSec: Int64? = nil,
        upToUSec: Int64? = nil,
        label: String? = nil,
        metadata: TextMap<String>? = nil,
        forget: Bool? = nil
    ) {
        self.key = key
        self.durationUSec = durationUSec
        self.upToUSec = upToUSec
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

    /// Reads the members.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
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
        /// Microseconds until one more is left; nil if everything is left, or if that cannot be known.
        public var moreUSec: Int64?
        /// The countdown; nil if the key is neither running nor paused.
        public var countdown: Countdown?

        /// The room of a cooldown.
        public init(key: String, left: Int64, moreUSec: Int64? = nil, countdown: Countdown? = nil) {
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
            var key = JSONMember<String>("key")
            var left = JSONMember<Int64>("left")
            var moreUSec = JSONMember<Int64>("moreUSec")
            var countdown = JSONMember<Countdown>("countdown")
            reader.knownMembers { key.read(&$0) || left.read(&$0) || moreUSec.read(&$0) || countdown.read(&$0) }
            self.key = try key.required
            self.left = try left.required
            self.moreUSec = try moreUSec.optional
            self.countdown = try countdown.optional
        }
    }
}
