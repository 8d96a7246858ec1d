public import CountdownCore
public import Varlink

/// A countdown as the engine holds it: JSON that a person can read, with instants of the engine's clock.
///
/// An end by its deadline is never written: a running record whose deadline has passed has ended.
public struct Record: Equatable, Sendable {
    /// A member of the JSON object that this version does not know, with its value as JSON text.
    public struct UnknownMember: Equatable, Sendable {
        let name: String
        let value: [UInt8]
    }

    /// The format that this version writes; the member `format` is absent then.
    static let format: Int64 = 1
    /// The members of a record that this version does not know take no more bytes than its metadata.
    static let unknownBytes = 4_096

    /// The change that made the record.
    public let kind: Change.Kind
    /// The proposal that started the countdown; nil if it is the one that made the record. A restart continues the run.
    public let run: ProposalID?
    /// The countdown, as `KeyedCountdown.shared` makes it.
    public let countdown: KeyedCountdown
    /// The members that this version does not know; they are kept if the countdown changes.
    public let unknown: [UnknownMember]

    /// The record of a change that was decided here.
    ///
    /// - Parameters:
    ///   - change: the change.
    ///   - run: the proposal that started the countdown; nil if it is the one that makes this record.
    ///   - unknown: the unknown members of the record before, if it is of the same run.
    ///   - now: this instant; its system clock is the clock of the engine.
    public init(_ change: Change, run: ProposalID?, unknown: [UnknownMember], at now: Now) {
        kind = change.kind
        self.run = run
        countdown = change.countdown.shared(at: now)
        self.unknown = unknown
    }

    /// The deadline, or when a request ended it; nil if it is paused.
    var end: WallInstant? {
        switch countdown.phase {
        case .running(.wall(let instant)), .finished(let instant, _), .cancelled(let instant, _): instant
        case .running(.elapsed), .paused: nil
        }
    }

    /// Whether a request has ended it.
    var hasEnded: Bool { !countdown.isLive }

    /// When the engine may remove it; nil while it is paused.
    var due: WallInstant? { end.map { Self.due(endingAt: $0, forget: countdown.forget) } }

    /// When the engine may remove a record: a delayed duplicate of a proposal must still find it.
    static func due(endingAt end: WallInstant, forget: Bool) -> WallInstant {
        end + (forget ? .seconds(10) : .seconds(600))
    }
}

/// Why a record cannot be used.
public enum RecordFault: Error, Equatable, Sendable {
    /// A newer version wrote it, in a format that this one does not know. It is left alone.
    case newerFormat(Int64)
    /// No version writes such a record; its fault in words.
    case malformed(String)
    /// Another program wrote the record: no daemon makes such an ID.
    case foreign

    /// A sentence for people.
    public var text: String {
        switch self {
        case .newerFormat(let format):
            "the record has format \(format), and this countdownd knows format \(Record.format): upgrade it"
        case .malformed(let fault): "malformed record: \(fault)"
        case .foreign: "another program has written a record under this key into the fleet's engine: remove it there"
        }
    }
}

// MARK: JSON

extension Record {
    /// The record as a JSON object.
    public var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("kind", kind.rawValue)
            writer.memberIfPresent("run", run?.text)
            writer.member("state", countdown.phase.state.rawValue)
            writer.memberIfPresent(countdown.isLive ? "deadline" : "end", end?.microseconds)
            switch countdown.phase {
            case .paused(let remaining), .cancelled(_, let remaining):
                writer.member("remaining", remaining.microseconds)
            case .running, .finished: break
            }
            writer.member("clock", countdown.clock.rawValue)
            writer.member("duration", countdown.duration.microseconds)
            writer.member("start", countdown.started.microseconds)
            writer.memberIfPresent("label", countdown.label)
            if !countdown.metadata.isEmpty { writer.member("metadata", countdown.metadata) }
            if countdown.forget { writer.member("forget", true) }
            for member in unknown { writer.member(named: member.name, RawJSON(bytes: member.value)) }
        }
        return writer.bytes
    }

    /// Reads a record.
    ///
    /// - Parameters:
    ///   - json: the text of a JSON object.
    ///   - key: the key of the countdown.
    /// - Throws: `RecordFault` if it is of a newer format, or no record.
    public init(json: [UInt8], under key: Key) throws(RecordFault) {
        self = try JSONReader.read(copying: json) { reader throws(RecordFault) in
            let members = reader.beginText() ? RecordMembers(from: &reader) : RecordMembers()
            guard reader.finish() == nil else { throw .malformed("it is not a JSON object") }
            return try Record(members, under: key)
        }
    }

    /// Reads the record of an entry.
    ///
    /// - Throws: `RecordFault` also if no daemon has written it.
    init(_ entry: LogEntry) throws(RecordFault) {
        guard entry.id != .foreign else { throw .foreign }
        try self.init(json: entry.record ?? [], under: entry.key)
    }

    private init(_ members: borrowing RecordMembers, under key: Key) throws(RecordFault) {
        if let format = members.format, format > Self.format { throw .newerFormat(format) }
        if let name = members.invalid { throw .malformed("invalid value of '\(name)'") }
        guard members.format ?? Self.format == Self.format else { throw .malformed("invalid value of 'format'") }
        kind = try RecordMembers.required(members.kind, "kind")
        let phase = try members.phase()
        guard kind.fits(phase) else { throw .malformed("the kind '\(kind.rawValue)' does not fit the state") }
        let clock = try RecordMembers.required(members.clock, "clock")
        let duration = try members.number(members.duration, "duration", atLeast: 1)
        countdown = KeyedCountdown(
            key: key,
            phase: phase,
            clock: clock,
            duration: Duration(microseconds: duration),
            started: WallInstant(microseconds: try members.number(members.start, "start", atLeast: 0)),
            label: members.label,
            metadata: members.metadata ?? [:],
            forget: members.forget ?? false,
            revision: Revision(0)
        )
        run = members.run
        unknown = members.unknown
        guard hasUsualSize else { throw .malformed("its label, metadata or unknown members are too long") }
    }

    /// Whether the texts are as short as a daemon lets them be.
    private var hasUsualSize: Bool {
        guard countdown.hasAnnotations || !unknown.isEmpty else { return true }
        let (limits, metadata) = (Limits(), countdown.metadata)
        return countdown.label?.utf8.count ?? 0 <= limits.labelBytes && metadata.count <= limits.metadataPairs
            && metadata.bytes <= limits.metadataBytes
            && unknown.reduce(0) { $0 + $1.name.utf8.count + $1.value.count } <= Self.unknownBytes
    }
}

/// The members of a record before they are checked. A member that is absent, or null, is nil.
private struct RecordMembers: ~Copyable {
    var format: Int64?
    var kind: Change.Kind?
    var run: ProposalID?
    var state: CountdownState?
    var clock: DeadlineClock?
    var duration: Int64?
    var deadline: Int64?
    var start: Int64?
    var remaining: Int64?
    var end: Int64?
    var label: String?
    var metadata: Metadata?
    var forget: Bool?
    var unknown: [Record.UnknownMember] = []
    /// The name of the first member whose value has another type; nil if all values have their types.
    var invalid: StaticString?

    init() {}

    /// Reads the members of the object that was entered.
    init(from reader: inout JSONReader) {
        while reader.nextMember() {
            if reader.read("kind", into: &kind, &invalid) || reader.read("state", into: &state, &invalid)
                || reader.read("clock", into: &clock, &invalid) || reader.read("duration", into: &duration, &invalid)
                || reader.read("deadline", into: &deadline, &invalid) || reader.read("start", into: &start, &invalid)
                || reader.read("run", into: &run, &invalid) || reader.read("remaining", into: &remaining, &invalid)
                || reader.read("end", into: &end, &invalid) || reader.read("label", into: &label, &invalid)
                || reader.read("metadata", into: &metadata, &invalid) || reader.read("forget", into: &forget, &invalid)
                || reader.read("format", into: &format, &invalid)
            {
                continue
            }
            let name = reader.memberName
            // No proposal may have line ends and tabs. In valid JSON, they occur only between values.
            unknown.append(
                Record.UnknownMember(name: name, value: reader.rawValue().filter { $0 >= UInt8(ascii: " ") })
            )
        }
    }

    static func required<Value>(_ value: Value?, _ name: StaticString) throws(RecordFault) -> Value {
        guard let value else { throw .malformed("'\(name)' is missing") }
        return value
    }

    /// A number of microseconds, which every JSON reader keeps exact.
    func number(_ value: Int64?, _ name: StaticString, atLeast least: Int64) throws(RecordFault) -> Int64 {
        let number = try Self.required(value, name)
        guard number >= least, number <= Self.latest else { throw .malformed("invalid value of '\(name)'") }
        return number
    }

    private static let latest = Limits().latest.microseconds

    func phase() throws(RecordFault) -> Phase {
        switch try Self.required(state, "state") {
        case .running: .running(until: .wall(WallInstant(microseconds: try number(deadline, "deadline", atLeast: 0))))
        case .paused: .paused(remaining: try left())
        case .finished: .finished(at: try ended(), late: .zero)
        case .cancelled: .cancelled(at: try ended(), remaining: try left())
        }
    }

    private func ended() throws(RecordFault) -> WallInstant {
        WallInstant(microseconds: try number(end, "end", atLeast: 0))
    }

    private func left() throws(RecordFault) -> Duration {
        Duration(microseconds: try number(remaining, "remaining", atLeast: 0))
    }
}

extension JSONReader {
    /// Reads the value of the current member, if it has this name.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - value: gets the value; nil if it is null, or has another type.
    ///   - invalid: gets the name if the value has another type, and no other one had before.
    /// - Returns: whether it has this name.
    @inline(__always)
    fileprivate mutating func read<Value: JSONReadable>(
        _ name: StaticString,
        into value: inout Value?,
        _ invalid: inout StaticString?
    ) -> Bool {
        guard isNamed(name) else { return false }
        value = nil
        guard !null() else { return true }
        do throws(InvalidParameter) { value = try Value.read(from: &self) } catch {}
        if value == nil, invalid == nil { invalid = name }
        return true
    }
}

private struct RawJSON: JSONWritable {
    let bytes: [UInt8]

    func write(into writer: inout JSONWriter) { writer.element(raw: bytes) }
}

extension Change.Kind {
    /// Whether a change of this kind can lead to a phase.
    fileprivate func fits(_ phase: Phase) -> Bool {
        switch (self, phase) {
        case (.started, .running), (.restarted, .running), (.resumed, .running), (.adjusted, .running): true
        case (.adjusted, .paused), (.paused, .paused), (.finished, .finished), (.cancelled, .cancelled): true
        default: false
        }
    }
}

extension Change.Kind: JSONReadable {}

extension CountdownState: JSONReadable {}

extension DeadlineClock: JSONReadable {}

extension ProposalID: JSONReadable {
    /// Reads an ID; nil if the value does not have the form of one.
    public static func read(from reader: inout JSONReader) -> ProposalID? { reader.withString { ProposalID($0) } }
}
