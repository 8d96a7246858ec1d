import Testing

@testable import CountdownCore
@testable import Fleet

@Suite("Records")
struct RecordTests {
    private let now = engineTime(noon)
    private let run = ProposalID(host: HostID(1, 0xab), number: 7)

    private func record(
        _ phase: Phase,
        _ kind: Change.Kind,
        run: ProposalID? = nil,
        metadata: Metadata = ["a": "\"b\""],
        forget: Bool = false
    ) -> Record {
        let countdown = KeyedCountdown(
            key: key("k"),
            phase: phase,
            clock: .elapsed,
            duration: .seconds(60),
            started: noon - .seconds(5),
            label: "tea",
            metadata: metadata,
            forget: forget,
            revision: Revision(0)
        )
        return Record(Change(kind: kind, countdown: countdown, replaced: nil), run: run, unknown: [], at: now)
    }

    @Test("are JSON that a person can read")
    func text() throws {
        let record = record(.running(until: .elapsed(now.boot + .seconds(55))), .started)
        let expected = """
            {"kind":"started","state":"running","deadline":1760000055000000,"clock":"elapsed","duration":60000000,\
            "start":1759999995000000,"label":"tea","metadata":{"a":"\\"b\\""}}
            """
        #expect(String(decoding: record.json, as: UTF8.self) == expected)
    }

    @Test("can be removed 10 minutes after the end, 10 seconds if they are to be forgotten, and never while paused")
    func due() {
        let running = Phase.running(until: .elapsed(now.boot + .seconds(55)))
        #expect(record(running, .started).due == noon + .seconds(55 + 600))
        #expect(record(running, .started, forget: true).due == noon + .seconds(55 + 10))
        #expect(record(.finished(at: noon, late: .zero), .finished).due == noon + .seconds(600))
        #expect(record(.paused(remaining: .seconds(3)), .paused).due == nil)
    }

    @Test("keep metadata names that only Unicode normalization makes equal")
    func names() throws {
        let metadata: Metadata = ["\u{E9}": "1", "e\u{301}": "2"]
        let record = record(.paused(remaining: .seconds(3)), .paused, run: run, metadata: metadata)
        let read = try Record(json: record.json, under: key("k"))
        #expect(read.countdown.metadata == metadata)
        #expect(read.countdown.metadata.count == 2)
    }

    @Test("are read as they were written, and become the same countdown")
    func roundTrip() throws {
        let records = [
            record(.running(until: .elapsed(now.boot + .seconds(55))), .resumed, run: run),
            record(.running(until: .wall(noon + .seconds(9))), .adjusted, run: run, forget: true),
            record(.paused(remaining: .seconds(3)), .paused, run: run),
            record(.finished(at: noon, late: .zero), .finished, run: run),
            record(.cancelled(at: noon, remaining: .seconds(3)), .cancelled, run: run),
        ]
        for record in records {
            let read = try Record(json: record.json, under: key("k"))
            #expect(read == record)
            let again = Record(
                Change(kind: read.kind, countdown: read.countdown, replaced: nil),
                run: read.run,
                unknown: read.unknown,
                at: engineTime(noon + .seconds(3))
            )
            #expect(again == record)
        }
    }

    @Test("keep members that this version does not know")
    func unknownMembers() throws {
        let json =
            #"{"kind":"cancelled","run":"\#(run.text)","state":"cancelled","end":5,"remaining":4,"clock":"wall","#
            + #""duration":9,"start":1,"owner":{"b":[1,null,"\u00e9"]},"owner":1.5e3}"#
        let record = try Record(json: Array(json.utf8), under: key("k"))
        #expect(record.countdown.phase == .cancelled(at: WallInstant(microseconds: 5), remaining: .microseconds(4)))
        #expect(record.run == run)
        #expect(record.countdown.clock == .wall)
        #expect(String(decoding: record.json, as: UTF8.self) == json)
    }

    @Test("keep members that this version does not know without line ends and tabs, which no proposal may have")
    func unknownMembersWithLineEnds() throws {
        let json =
            #"{"kind":"cancelled","run":"\#(run.text)","state":"cancelled","end":5,"remaining":4,"clock":"wall","#
            + "\"duration\":9,\"start\":1,\"owner\":{\r\n\t\"b\":\t[1,\n2, \"\\n\"]}}"
        let record = try Record(json: Array(json.utf8), under: key("k"))
        let text = String(decoding: record.json, as: UTF8.self)
        #expect(text.hasSuffix(#""start":1,"owner":{"b":[1,2, "\n"]}}"#))
    }

    @Test("of a newer format are recognised, whatever else they contain")
    func newerFormat() {
        #expect(throws: RecordFault.newerFormat(2)) {
            try Record(json: Array(#"{"format":2,"state":7}"#.utf8), under: key("k"))
        }
    }

    static let good = [
        "kind": #""started""#, "state": #""running""#, "deadline": "9", "clock": #""elapsed""#, "duration": "1",
        "start": "0",
    ]

    /// Members that take the place of good ones, or are left out if empty, and a part of the error.
    static let faults: [(members: [String: String], error: String)] = [
        (["format": "0"], "'format'"), (["format": #""2""#], "'format'"), (["kind": ""], "'kind' is missing"),
        (["kind": #""begun""#], "'kind'"), (["kind": "7"], "'kind'"), (["kind": #""finished""#], "does not fit"),
        (["kind": #""paused""#], "does not fit"), (["state": ""], "'state' is missing"),
        (["state": #""on""#], "'state'"), (["deadline": ""], "'deadline' is missing"),
        (["deadline": "-1"], "'deadline'"), (["deadline": "9007199254740992"], "'deadline'"),
        (["deadline": "1e3"], "'deadline'"), (["deadline": "99999999999999999999999"], "'deadline'"),
        (["clock": ""], "'clock' is missing"), (["clock": #""sun""#], "'clock'"), (["duration": "0"], "'duration'"),
        (["duration": "-9223372036854775808"], "'duration'"), (["start": "null"], "'start' is missing"),
        (["run": #""7""#], "'run'"), (["run": #""000000000000000100000000000000AB.7""#], "'run'"),
        (["run": #""000000000000000100000000000000ab.07""#], "'run'"),
        (["run": #""000000000000000100000000000000ab.""#], "'run'"), (["label": "1"], "'label'"),
        (["metadata": #"{"a":1}"#], "'metadata'"), (["forget": "1"], "'forget'"),
        (["label": "\"" + String(repeating: "x", count: 1_025) + "\""], "too long"),
        (["metadata": #"{"a":""# + String(repeating: "x", count: 4_096) + "\"}"], "too long"),
        (["other": "\"" + String(repeating: "x", count: 4_096) + "\""], "too long"),
        (["state": #""paused""#, "kind": #""paused""#], "'remaining' is missing"),
        (["state": #""cancelled""#, "kind": #""cancelled""#, "end": "1"], "'remaining' is missing"),
    ]

    @Test("that no version writes are refused with the member's name", arguments: faults.indices)
    func malformed(index: Int) throws {
        let members = Self.good.merging(Self.faults[index].members) { $1 }.filter { !$0.value.isEmpty }
        let json = "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
        let error = #expect(throws: RecordFault.self) { try Record(json: Array(json.utf8), under: key("k")) }
        guard case .malformed(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains(Self.faults[index].error), "\(text)")
    }

    @Test("that are no JSON objects are refused, cut at every byte and with every byte changed")
    func broken() throws {
        let json = record(.running(until: .elapsed(now.boot)), .started, run: run).json
        for text in ["", " ", "7", "[]", "null", "{", "\u{0}"] {
            #expect(throws: RecordFault.malformed("it is not a JSON object")) {
                try Record(json: Array(text.utf8), under: key("k"))
            }
        }
        #expect(throws: RecordFault.self) { try Record(json: Array("{}".utf8), under: key("k")) }
        for count in json.indices {
            #expect(throws: RecordFault.self) { try Record(json: Array(json.prefix(count)), under: key("k")) }
        }
        // Whatever can be read can be written.
        for index in json.indices {
            for byte in [0, 0x20, 0x22, 0x2d, 0x30, 0x39, 0x5c, 0x7b, 0x7d, 0xc3, 0xff] as [UInt8] {
                var changed = json
                changed[index] = byte
                guard let record = try? Record(json: changed, under: key("k")) else { continue }
                #expect(try Record(json: record.json, under: key("k")) == record)
            }
        }
    }

    @Test("name the proposal that made them, and no text of another form is such a name")
    func proposalText() {
        #expect(run.text == "000000000000000100000000000000ab.7")
        #expect(ProposalID(run.text) == run)
        for text in ["", "1", run.text + "x", "0" + run.text, run.text.uppercased(), String(run.text.dropLast())] {
            #expect(ProposalID(text) == nil)
        }
    }
}
