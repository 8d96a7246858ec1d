public import Varlink

/// Starts a countdown. If the key is running or paused, `ifRunning` decides.
@usableFromInline
package struct Start: Method {
    package static let name = "Start"

    package var key: String
    package var durationUSec: Int64?
    package var deadlineUSec: Int64?
    package var ifRunning: IfRunning?
    package var label: String?
    package var metadata: TextMap<String>?
    package var forget: Bool?
    package var upToUSec: Int64?
    package var maxDurationUSec: Int64?
    package var queueUpTo: Int64?

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
        package var outcome: Countdown.Outcome
        package var countdown: Countdown

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
