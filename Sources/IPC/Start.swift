public import Varlink

/// Starts a countdown for `durationUSec` or until `deadlineUSec`, not both, from 1 us to 100 years ahead. If the key is
/// running or paused, `ifRunning` decides.
///
/// Errors: `AlreadyRunning` with `ifRunning: fail`, with `extend` and `upToUSec`, or with `wait` and `queueUpTo`; `WrongState`
/// with `later` and a deadline; `LimitReached`, `StorageFailed`, `Unreachable`.
@usableFromInline
package struct Start: Method {
    package static let name = "Start"

    /// 1 to 255 bytes of UTF-8 without control characters.
    package var key: String
    /// Microseconds; 60 s if neither a duration nor a deadline is given.
    package var durationUSec: Int64?
    /// Microseconds since 1970. The countdown then follows the system clock.
    package var deadlineUSec: Int64?
    /// `attach` if it is nil.
    package var ifRunning: IfRunning?
    /// A text for people.
    package var label: String?
    /// Values that the daemon only stores.
    package var metadata: TextMap<String>?
    /// Whether the daemon forgets the countdown at its end, after it has reported the end.
    package var forget: Bool?
    /// Microseconds: the most that may remain after `extend` or `wait`, at least the duration. Nil if `extend` may always
    /// add, and `wait` waits for the end.
    package var upToUSec: Int64?
    /// Microseconds: how long the countdown may run in all before `later` changes nothing more, at least the duration.
    package var maxDurationUSec: Int64?
    /// How many calls may queue for the key, this one included, at least 1; more `wait` fail with `AlreadyRunning`.
    package var queueUpTo: Int64?

    /// A call; parameters that are nil have the daemon's defaults.
    @usableFromInline
    package init(
        key: String,
        durationUSec: Int64? = nil,
        deadlineUSec: Int64? = nil,
        ifRunning: IfRunning? = nil,
        label: String? = nil,
        metadata: TextMap<String>? = nil,
        forget: Bool? = nil,
        upToUSec: Int64? = nil,
        maxDurationUSec: Int64? = nil,
        queueUpTo: Int64? = nil
    ) {
        self.key = key
        self.durationUSec = durationUSec
        self.deadlineUSec = deadlineUSec
        self.ifRunning = ifRunning
        self.label = label
        self.metadata = metadata
        self.forget = forget
        self.upToUSec = upToUSec
        self.maxDurationUSec = maxDurationUSec
        self.queueUpTo = queueUpTo
    }

    /// The call of a client, whose parameters have other types and the same order.
    init(
        _ key: String,
        _ duration: Duration?,
        _ deadline: Countdown.Instant?,
        _ ifRunning: IfRunning?,
        _ label: String?,
        _ metadata: TextMap<String>?,
        _ forget: Bool?,
        _ upTo: Duration?,
        _ maxDuration: Duration?,
        _ queueUpTo: Int64?
    ) {
        self.init(
            key: key,
            durationUSec: duration?.microseconds,
            deadlineUSec: deadline?.microseconds,
            ifRunning: ifRunning,
            label: label,
            metadata: metadata,
            forget: forget,
            upToUSec: upTo?.microseconds,
            maxDurationUSec: maxDuration?.microseconds,
            queueUpTo: queueUpTo
        )
    }

    @usableFromInline
    package func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("durationUSec", durationUSec)
        writer.memberIfPresent("deadlineUSec", deadlineUSec)
        writer.memberIfPresent("ifRunning", ifRunning)
        writer.memberIfPresent("label", label)
        writer.memberIfPresent("metadata", metadata)
        writer.memberIfPresent("forget", forget)
        writer.memberIfPresent("upToUSec", upToUSec)
        writer.memberIfPresent("maxDurationUSec", maxDurationUSec)
        writer.memberIfPresent("queueUpTo", queueUpTo)
    }

    @usableFromInline
    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        let key: String
        (key, self) = try Self.read(from: &reader)
        self.key = key
    }

    /// Reads the parameters with the key as a value of another type, so that no string has to be made of it; the key of
    /// the result is empty.
    @inlinable
    package static func read<Key: JSONReadable>(
        from reader: inout JSONReader,
        keyAs type: Key.Type = Key.self
    ) throws(InvalidParameter) -> (key: Key, start: Start) {
        var key = JSONMember<Key>("key")
        var durationUSec = JSONMember<Int64>("durationUSec")
        var deadlineUSec = JSONMember<Int64>("deadlineUSec")
        var ifRunning = JSONMember<IfRunning>("ifRunning")
        var label = JSONMember<String>("label")
        var metadata = JSONMember<TextMap<String>>("metadata")
        var forget = JSONMember<Bool>("forget")
        var upToUSec = JSONMember<Int64>("upToUSec")
        var maxDurationUSec = JSONMember<Int64>("maxDurationUSec")
        var queueUpTo = JSONMember<Int64>("queueUpTo")
        try reader.members {
            key.read(&$0) || durationUSec.read(&$0) || deadlineUSec.read(&$0) || ifRunning.read(&$0)
                || label.read(&$0) || metadata.read(&$0) || forget.read(&$0) || upToUSec.read(&$0)
                || maxDurationUSec.read(&$0) || queueUpTo.read(&$0)
        }
        let start = Start(
            key: "",
            durationUSec: try durationUSec.optional,
            deadlineUSec: try deadlineUSec.optional,
            ifRunning: try ifRunning.optional,
            label: try label.optional,
            metadata: try metadata.optional,
            forget: try forget.optional,
            upToUSec: try upToUSec.optional,
            maxDurationUSec: try maxDurationUSec.optional,
            queueUpTo: try queueUpTo.optional
        )
        return (try key.required, start)
    }

    /// The outcome, and the countdown as it is now.
    @usableFromInline
    package struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// The action of `Start`.
        package var outcome: Countdown.Outcome
        /// The countdown under the key.
        package var countdown: Countdown

        /// A reply with an outcome and a countdown.
        package init(outcome: Countdown.Outcome, countdown: Countdown) {
            self.outcome = outcome
            self.countdown = countdown
        }

        @usableFromInline
        package func encode(into writer: inout JSONWriter) {
            Self.encode(outcome, into: &writer) { countdown.encode(into: &$0) }
        }

        @inlinable
        package static func encode(
            _ outcome: Countdown.Outcome,
            into writer: inout JSONWriter,
            countdown: (inout JSONWriter) -> Void
        ) {
            writer.member("outcome", outcome)
            writer.member("countdown", object: countdown)
        }

        @usableFromInline
        package init(from reader: inout JSONReader) throws(InvalidParameter) {
            var outcome = JSONMember<Countdown.Outcome>("outcome")
            var countdown = JSONMember<Countdown>("countdown")
            reader.knownMembers { outcome.read(&$0) || countdown.read(&$0) }
            self.outcome = try outcome.required
            self.countdown = try countdown.required
        }
    }
}
