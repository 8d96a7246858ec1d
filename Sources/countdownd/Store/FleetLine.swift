import CountdownCore
import Fleet
import Varlink

/// The state that a member of a fleet must store together with the changes of a turn.
struct FleetChanges {
    /// The records that have changed, in this order.
    var records: [Member.RecordChange] = []
    /// How far the log of the fleet is known; nil while a snapshot is read. A nil outside: as before.
    var position: LogCursor.Position??
    /// If the history was trimmed, the oldest revision from which a watch can be resumed.
    var oldest: Revision?

    /// Adds later changes.
    mutating func append(_ later: FleetChanges) {
        records += later.records
        position = later.position ?? position
        oldest = later.oldest ?? oldest
    }

    func write(into lines: inout JSONWriter) {
        for change in records {
            switch change {
            case .set(let key, let record): FleetLine.record(key, record).write(into: &lines)
            case .remove(let key): FleetLine.removal(key).write(into: &lines)
            }
        }
        if let position { FleetLine.position(position).write(into: &lines) }
    }
}

/// What a store has of a fleet: the records, and how far the log of the fleet is known; nil if a snapshot is needed.
struct StoredFleet {
    var records = HeldRecords()
    var position: LogCursor.Position?
}

/// A line of the state of a member of a fleet: a record of the engine that is known here, or the place in its log up to which they are.
enum FleetLine {
    /// `["record",KEY,…]`: see `HeldRecord`.
    case record(Key, HeldRecord)
    /// `["record",KEY]`: the record is not known any more.
    case removal(Key)
    /// A record that this version cannot use: the engine has it.
    case unusable
    /// `["fleet",VERSION,ID]`, or `["fleet",null]` while a snapshot is read.
    case position(LogCursor.Position?)
    /// `["fleet"]`: no line before this one counts.
    case nothing

    func write(into lines: inout JSONWriter) {
        lines.array { line in
            switch self {
            case .record(let key, let record):
                line.element("record")
                key.withBytes { line.write(utf8: $0) }
                record.write(into: &line)
            case .removal(let key):
                line.element("record")
                key.withBytes { line.write(utf8: $0) }
            case .unusable: break
            case .position(let position):
                line.element("fleet")
                guard let position else { return line.elementNull() }
                line.element(position.version.number)
                if let id = position.id { line.element(id.text) } else { line.elementNull() }
            case .nothing: line.element("fleet")
            }
        }
        lines.endLine()
    }

    /// Reads a line of a text that ends with a NUL; nil if it is none of a fleet.
    init?(_ line: Range<Int>, of text: Span<UInt8>) {
        let read: FleetLine? = JSONReader.read(text.extracting(line.lowerBound...), length: line.count) { reader in
            guard reader.beginArrayText(), reader.nextElement(), let word = reader.string(),
                let line = word == "record"
                    ? Self.readRecord(&reader) : word == "fleet" ? Self.readPosition(&reader) : nil,
                reader.finish() == nil
            else { return nil }
            return line
        }
        guard let read else { return nil }
        self = read
    }

    private static func readRecord(_ reader: inout JSONReader) -> FleetLine? {
        guard reader.nextElement(), let key = Key.read(from: &reader) else { return nil }
        guard reader.nextElement() else { return .removal(key) }
        switch HeldRecord.read(from: &reader) {
        case .record(let record): return .record(key, record)
        case .unusable: return .unusable
        case nil: return nil
        }
    }

    private static func readPosition(_ reader: inout JSONReader) -> FleetLine? {
        guard reader.nextElement() else { return .nothing }
        if reader.null() { return reader.nextElement() ? nil : .position(nil) }
        guard let version = reader.integer(), reader.nextElement() else { return nil }
        let id = reader.null() ? nil : reader.string().flatMap { ProposalID($0) }
        guard !reader.nextElement() else { return nil }
        return .position(LogCursor.Position(version: LogVersion(version), id: id))
    }
}
