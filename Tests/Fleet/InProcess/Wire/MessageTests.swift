import BackendContract
import FleetWire
import TestSupport
import Testing
import Varlink
import VarlinkDefinition

@Suite("The messages between a daemon and a bridge")
struct MessageTests {
    private func text(_ value: some JSONEncodable) -> String {
        var writer = JSONWriter()
        writer.object { value.encode(into: &$0) }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func read<Value: JSONDecodable>(_ text: String, as type: Value.Type = Value.self) throws -> Value {
        try Value(json: text.utf8)
    }

    /// A value is written as the text, and the text is read as the value.
    private func expect<Value: JSONEncodable & JSONDecodable & Equatable>(_ value: Value, is text: String) throws {
        #expect(self.text(value) == text)
        #expect(try read(text) == value)
    }

    private static let record = RecordText(#"{"label":"Tea"}"#)

    @Test("the interface has the definition's methods and error")
    func interface() throws {
        let definition = try Definition(parsing: BackendInterface.definition)
        #expect(BackendInterface.name == definition.name)
        #expect(BackendInterface.methods.map { $0.name } == definition.methods.map(\.name))
        #expect(BackendInterface.description.methods == definition.methods.map(\.name))
        #expect(Propose.fullName == "io.countdownd.Backend.Propose")
        #expect(BackendError.unreachable(reason: "").errorName == "io.countdownd.Backend.Unreachable")
        #expect(Propose.Outcome.allCases.map(\.rawValue) == definition.cases(.named("Outcome")))
        #expect(Follow.State.allCases.map(\.rawValue) == definition.cases(.named("FollowState")))
    }

    // MARK: Proposals

    @Test("a change and a confirmation")
    func proposals() throws {
        let change = Propose.Proposal("t\"a", "x.2", after: "x.1", window: 1...2, due: 3, record: Self.record.text)
        try expect(
            Propose(shard: 0, proposals: [change]),
            is: #"{"shard":0,"proposals":[{"key":"t\"a","expected":"x.1","notBeforeUSec":1,"notAfterUSec":2,"#
                + #""dueUSec":3,"id":"x.2","record":"{\"label\":\"Tea\"}"}]}"#
        )
        try expect(
            Propose.Proposal("a", "x.3", window: 0...2, record: nil),
            is: #"{"key":"a","expected":"","notBeforeUSec":0,"notAfterUSec":2,"id":"x.3"}"#
        )
    }

    @Test(
        "a member of a proposal that is invalid is named",
        arguments: [
            ("key", #""""#), ("key", #""a\nb""#), ("key", #""\u0085""#), ("key", "7"), ("key", "null"),
            ("id", #""""#), ("id", #""x 1""#), ("id", #""ä""#), ("expected", #""x 1""#), ("expected", "null"),
            ("notBeforeUSec", "1.5"), ("notAfterUSec", "null"), ("dueUSec", #""1""#),
            ("record", #""[]""#), ("record", #""{\n}""#), ("record", #""""#), ("record", #""{}{}""#), ("record", "{}"),
            ("later", "1"),
        ]
    )
    func invalidProposal(member: String, value: String) throws {
        let valid = ["key": #""a""#, "expected": #""""#, "notBeforeUSec": "0", "notAfterUSec": "1", "id": #""x.1""#]
        func text(_ members: [String: String]) -> String {
            "{\(members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}"
        }
        _ = try read(text(valid), as: Propose.Proposal.self)
        #expect(throws: InvalidParameter(member)) {
            try read(text(valid.merging([member: value]) { $1 }), as: Propose.Proposal.self)
        }
    }

    @Test("a record and a call have their limits")
    func limits() throws {
        func record(of length: Int) -> RecordText { RecordText("{" + String(repeating: " ", count: length - 2) + "}") }
        #expect(record(of: BackendInterface.recordLimit).isObject)
        #expect(!record(of: BackendInterface.recordLimit + 1).isObject)
        func call(_ count: Int) -> String {
            text(Propose(proposals: (0..<count).map { Propose.Proposal("a", "x.\($0)", record: nil) }))
        }
        #expect(try read(call(64), as: Propose.self).proposals.count == 64)
        #expect(throws: InvalidParameter("proposals")) { try read(call(65), as: Propose.self) }
    }

    // MARK: Answers

    @Test("every outcome")
    func answers() throws {
        let answers: [(Propose.Answer, String)] = [
            (.won(version: 7), #"{"outcome":"won","version":7}"#), (.won(version: nil), #"{"outcome":"won"}"#),
            (.unacknowledged(version: 7), #"{"outcome":"unacknowledged","version":7}"#),
            (
                .conflict(version: 7, id: "y.1", record: Self.record),
                #"{"outcome":"conflict","version":7,"id":"y.1","record":"{\"label\":\"Tea\"}"}"#
            ),
            (.noRecord, #"{"outcome":"conflict"}"#), (.early, #"{"outcome":"early"}"#),
            (.late, #"{"outcome":"late"}"#),
            (.unknown(reason: "why"), #"{"outcome":"unknown","reason":"why"}"#),
            (.unreachable(reason: "why"), #"{"outcome":"unreachable","reason":"why"}"#),
        ]
        for (answer, text) in answers { try expect(answer, is: text) }
        try expect(
            Propose.Reply(
                answers: [.early, .late],
                clock: EngineOffset(engineLessBootUSec: -5, errorUSec: 0)
            ),
            is: #"{"answers":[{"outcome":"early"},{"outcome":"late"}],"clock":{"engineLessBootUSec":-5,"errorUSec":0}}"#
        )
        try expect(Propose.Reply(answers: []), is: #"{"answers":[]}"#)
    }

    @Test(
        "a member of an answer that is missing or invalid is named",
        arguments: [
            ("{}", "outcome"), (#"{"outcome":"lost"}"#, "outcome"), (#"{"outcome":7}"#, "outcome"),
            (#"{"outcome":"won","version":-1}"#, "version"), (#"{"outcome":"won","version":"7"}"#, "version"),
            (#"{"outcome":"conflict","id":"y.1","record":"{}"}"#, "version"),
            (#"{"outcome":"conflict","version":7,"record":"{}"}"#, "id"),
            (#"{"outcome":"conflict","version":7,"id":"y.1"}"#, "record"),
            (#"{"outcome":"conflict","version":7,"id":"y.1","record":{}}"#, "record"),
            (#"{"outcome":"unknown"}"#, "reason"), (#"{"outcome":"unreachable","reason":1}"#, "reason"),
        ]
    )
    func invalidAnswer(text: String, member: String) {
        #expect(throws: InvalidParameter(member)) { try read(text, as: Propose.Answer.self) }
        #expect(throws: InvalidParameter(member)) { try read("{\"answers\":[\(text)]}", as: Propose.Reply.self) }
    }

    // MARK: Followers

    @Test("a call with and without the last change")
    func follow() throws {
        try expect(Follow(), is: #"{"shard":0}"#)
        try expect(
            Follow(shard: 1, after: Follow.Position(version: 7, id: "y.1")),
            is: #"{"shard":1,"after":7,"id":"y.1"}"#
        )
        try expect(Follow(after: Follow.Position(version: 0, id: nil)), is: #"{"shard":0,"after":0}"#)
        #expect(throws: InvalidParameter("after")) { try read(#"{"shard":0,"after":-1}"#, as: Follow.self) }
        #expect(throws: InvalidParameter("later")) { try read(#"{"shard":0,"later":1}"#, as: Follow.self) }
    }

    @Test("every state")
    func states() throws {
        for state in Follow.State.allCases {
            try expect(Follow.Reply(state: state), is: #"{"state":"\#(state.rawValue)","entries":[]}"#)
        }
        let entries = [
            Follow.Entry(key: "a", version: 7, id: "y.1", record: Self.record),
            Follow.Entry(key: "b", version: 8, id: "y.2", record: nil),
        ]
        try expect(
            Follow.Reply(
                state: .changes,
                entries: entries,
                last: Follow.Position(version: 8, id: "y.2"),
                clock: EngineOffset(engineLessBootUSec: 5, errorUSec: 1),
                reason: "why"
            ),
            is: #"{"state":"changes","entries":[{"key":"a","version":7,"id":"y.1","record":"{\"label\":\"Tea\"}"},"#
                + #"{"key":"b","version":8,"id":"y.2"}],"version":8,"id":"y.2","#
                + #""clock":{"engineLessBootUSec":5,"errorUSec":1},"reason":"why"}"#
        )
    }

    @Test("the text of a record is passed on, whatever it is")
    func anyRecord() throws {
        for text in ["", "[]", "{\n", "ä\u{1F642}\u{0}\"\\"] {
            let entry = Follow.Entry(key: "a", version: 0, id: "?", record: RecordText(text))
            #expect(try read(self.text(entry)) == entry)
        }
    }

    @Test(
        "a member of a follower's reply that is missing or invalid is named",
        arguments: [
            (#"{"entries":[]}"#, "state"), (#"{"state":"dead","entries":[]}"#, "state"),
            (#"{"state":"live"}"#, "entries"), (#"{"state":"live","entries":[1]}"#, "entries"),
            (#"{"state":"live","entries":[],"version":-1}"#, "version"),
            (#"{"state":"live","entries":[],"id":1}"#, "id"), (#"{"state":"live","entries":[],"reason":1}"#, "reason"),
            (#"{"state":"live","entries":[],"clock":{"errorUSec":1}}"#, "engineLessBootUSec"),
            (#"{"state":"live","entries":[],"clock":{"engineLessBootUSec":1,"errorUSec":-1}}"#, "errorUSec"),
            (#"{"state":"page","entries":[{"version":1,"id":"y.1"}]}"#, "key"),
            (#"{"state":"page","entries":[{"key":"a","version":-1,"id":"y.1"}]}"#, "version"),
            (#"{"state":"page","entries":[{"key":"a","version":1}]}"#, "id"),
            (#"{"state":"page","entries":[{"key":"a","version":1,"id":"y.1","record":{}}]}"#, "record"),
        ]
    )
    func invalidUpdate(text: String, member: String) {
        #expect(throws: InvalidParameter(member)) { try read(text, as: Follow.Reply.self) }
    }

    // MARK: The engine

    @Test("the description of the engine, and the error without one")
    func describe() throws {
        try expect(Describe(), is: "{}")
        let text =
            #"{"engine":"Redis 7.0.15","namespace":"fleet","shards":1,"retentionUSec":600000000,"marginUSec":50000,"#
            + #""countdowns":1000000,"acknowledgements":1,"version":"0.1"}"#
        let description = Describe.Reply(
            engine: "Redis 7.0.15",
            namespace: "fleet",
            shards: 1,
            retentionUSec: 600_000_000,
            marginUSec: 50_000,
            countdowns: 1_000_000,
            acknowledgements: 1,
            version: "0.1"
        )
        try expect(description, is: text)
        for member in ["shards", "retentionUSec", "marginUSec", "countdowns", "acknowledgements"] {
            let invalid = text.replacing(#""\#(member)":"#, with: #""\#(member)":-1"#)
            #expect(throws: InvalidParameter(member)) { try read(invalid, as: Describe.Reply.self) }
        }
        var writer = JSONWriter()
        writer.object { BackendError.unreachable(reason: "why").encodeParameters(into: &$0) }
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"reason":"why"}"#)
    }

    @Test("members that a newer bridge adds to replies are skipped")
    func newerBridge() throws {
        let later = #""later":{"a":[1]}"#
        #expect(try read("{\(later),\"outcome\":\"early\"}", as: Propose.Answer.self) == .early)
        #expect(try read("{\(later),\"answers\":[]}", as: Propose.Reply.self).answers.isEmpty)
        #expect(try read("{\(later),\"state\":\"live\",\"entries\":[]}", as: Follow.Reply.self).state == .live)
        let error = try JSONReader.read(copying: "{\(later),\"reason\":\"why\"}".utf8) { reader in
            _ = reader.beginText()
            return try BackendError(.unreachable, from: &reader)
        }
        #expect(error == .unreachable(reason: "why"))
    }
}
