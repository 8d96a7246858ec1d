import CountdownCore
import Testing

@testable import Fleet

@Suite("Following the log")
struct LogCursorTests {
    private static let host = HostID(1, 2)

    private static func id(_ number: UInt64) -> ProposalID { ProposalID(host: host, number: number) }

    private static func position(_ version: Int64) -> LogCursor.Position {
        LogCursor.Position(version: LogVersion(version), id: id(UInt64(version)))
    }

    /// What happens, and the state after each step: `S` a snapshot because nothing is known, `T` because the log was trimmed, `D`
    /// because it diverged, `L` live, `l` lost. A number is the position that would be stored.
    static let courses = [
        ("open page live sweep lost open resumed live", "S S S L5 l5 l5 l5 L5"),
        ("open page lost open page live sweep", "S S S S S S L5"),
        ("open page live sweep lost open trimmed page live sweep", "S S S L5 l5 l5 T T T L5"),
        ("open page live sweep lost open diverged page live sweep", "S S S L5 l5 l5 D D D L5"),
        ("open page live sweep diverged lost open page live sweep", "S S S L5 D D D D D L5"),
        ("open page live sweep gap resumed live", "S S S L5 L5 L5 L5"),
        ("open page live sweep gap lost open trimmed", "S S S L5 L5 l5 l5 T"),
        ("open page live sweep diverge page live sweep", "S S S L5 D D D L5"),
        ("restored open resumed live", "off l5 l5 L5"), ("restored open trimmed page live sweep", "off l5 T T T L5"),
        ("restored open page live sweep", "off l5 S S L5"), ("open live", "S S"),
    ]

    @Test("goes from state to state", arguments: courses.indices)
    func course(index: Int) {
        var cursor = LogCursor()
        var states: [String] = []
        for word in Self.courses[index].0.split(separator: " ") {
            switch word {
            case "restored": cursor = LogCursor(at: Self.position(5))
            case "open": #expect(cursor.open().after == cursor.stored)
            case "page": cursor.receive(.page([], Self.position(5)))
            case "resumed": cursor.receive(.resumed)
            case "trimmed": cursor.receive(.trimmed)
            case "diverged": cursor.receive(.diverged)
            case "live": cursor.receive(.live)
            case "lost": cursor.receive(.lost("cut"))
            case "gap":
                #expect(cursor.fillGap() == LogCursor.Opening(after: Self.position(5)))
                #expect(cursor.fillGap() == nil)
            case "diverge": #expect(cursor.diverge().after == nil)
            default: if cursor.isSnapshotRead { cursor.finishSnapshot() }
            }
            states.append(Self.text(cursor))
        }
        #expect(states.joined(separator: " ") == Self.courses[index].1)
    }

    private static func text(_ cursor: LogCursor) -> String {
        let state =
            switch cursor.state {
            case .off: "off"
            case .snapshot(.first): "S"
            case .snapshot(.trimmed): "T"
            case .snapshot(.diverged): "D"
            case .live: "L"
            case .lost: "l"
            }
        return state + (cursor.stored.map { "\($0.version.number)" } ?? "")
    }

    /// The verdict on an entry at position 5, by its version and ID, and the version and ID of the record under its key.
    static let verdicts: [(entry: (Int64, UInt64), held: (Int64, UInt64)?, verdict: String)] = [
        ((6, 6), (3, 3), "apply"), ((6, 6), nil, "apply"), ((7, 7), (3, 3), "gap"), ((5, 5), (5, 5), "skip"),
        ((5, 9), (5, 5), "diverged"), ((5, 9), (3, 3), "diverged"), ((3, 3), (3, 3), "skip"),
        ((3, 9), (3, 3), "diverged"), ((4, 9), (3, 3), "diverged"), ((3, 3), (4, 4), "skip"), ((3, 3), nil, "skip"),
        ((.max, 9), nil, "gap"), ((.min, 9), nil, "skip"),
    ]

    @Test("takes the next entry, skips known ones, and notices another history", arguments: verdicts.indices)
    func verdict(index: Int) throws {
        let (entry, held, expected) = Self.verdicts[index]
        var cursor = LogCursor(at: Self.position(5))
        _ = cursor.open()
        cursor.receive(.live)
        let known = try held.map { try Self.held($0.0, $0.1) }
        let verdict = cursor.verdict(on: Self.entry(entry.0, entry.1), held: known)
        #expect("\(verdict)" == expected)
    }

    private static func entry(_ version: Int64, _ number: UInt64) -> LogEntry {
        LogEntry(key: key("k"), version: LogVersion(version), id: id(number), record: Array(json.utf8))
    }

    private static func held(_ version: Int64, _ number: UInt64) throws -> HeldRecord {
        HeldRecord(entry(version, number), try Record(entry(version, number)), snapshot: 0)
    }

    private static let json =
        #"{"kind":"started","state":"running","deadline":9,"clock":"elapsed","duration":1,"start":0}"#
}
