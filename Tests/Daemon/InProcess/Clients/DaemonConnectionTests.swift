import IPC
import TestSupport
import Testing
import Varlink

@Suite("Connections")
final class DaemonConnectionTests: SmallDaemonSuite {
    private static let status = #"{"method":"io.countdownd.GetStatus"}"#

    private func call(_ method: String, _ parameters: String = "{}", _ rest: String = "") -> String {
        #"{"method":"io.countdownd.\#(method)","parameters":\#(parameters)\#(rest)}"#
    }

    @Test("a oneway call is executed and not answered, not even with an error")
    func oneway() throws {
        try caller.send(Start(key: "tea"), oneway: true)
        try caller.send(Get(key: "none"), oneway: true)
        try caller.send(List(), oneway: true)
        try caller.send(Watch(), oneway: true)
        try caller.connection.send(message: call("None", "{}", #","oneway":true"#))
        try caller.connection.send(message: #"{"method":"io.example.None","oneway":true}"#)
        try caller.connection.send(message: #"{"method":"org.varlink.service.GetInfo","oneway":true}"#)
        try caller.connection.send(message: call("Start", #"{"key":""}"#, #","oneway":true"#))
        let status = try caller.call(GetStatus())
        #expect(status.running == 1 && status.watchers == 0)
    }

    @Test("oneway calls of a client that leaves at once are carried out")
    func onewayAndGone() throws {
        let follower = try daemon.watch()
        do {
            let connection = try daemon.connect()
            let calls = (0..<2_000).map { call("Start", #"{"key":"\#($0)"}"#, #","oneway":true"#) }
            try connection.send(Array((calls.joined(separator: "\0") + "\0").utf8))
        }
        try follower.events(through: .started, of: "1999")
        #expect(try caller.call(GetStatus()).running == 2_000)
    }

    @Test("a client that has closed its writing side is still answered, and then the connection is closed")
    func halfClosed() throws {
        let connection = try daemon.connect()
        try connection.send(Array((call("Start", #"{"key":"tea"}"#) + "\0" + Self.status + "\0").utf8))
        connection.closeWriting()
        #expect(try connection.message().contains(#""outcome":"started""#))
        #expect(try connection.message().contains(#""running":1"#))
        #expect(try connection.nextMessage() == nil)
    }

    @Test("a client that has closed its writing side gets the end that it waits for")
    func halfClosedWait() throws {
        let connection = try daemon.connect()
        _ = try caller.call(Start(key: "tea", durationUSec: .milliseconds(100)))
        try connection.send(message: call("Wait", #"{"key":"tea"}"#))
        connection.closeWriting()
        time.pass(.milliseconds(100))
        #expect(try connection.message().contains(#""state":"finished""#))
        #expect(try connection.nextMessage() == nil)
    }

    @Test("a client that has closed its writing side continues to watch")
    func halfClosedWatch() throws {
        let connection = try daemon.connect()
        try connection.send(message: call("Watch", "{}", #","more":true"#))
        connection.closeWriting()
        #expect(try connection.message().contains(#""type":"synced""#))
        _ = try caller.call(Start(key: "tea", durationUSec: .milliseconds(50)))
        #expect(try connection.message().contains(#""type":"started""#))
        time.pass(.milliseconds(50))
        #expect(try connection.message().contains(#""type":"finished""#))
    }

    @Test("a client that has closed its writing side gets its whole list")
    func halfClosedList() throws {
        for number in 0..<1_000 { try caller.send(Start(key: "\(number)")) }
        for _ in 0..<1_000 { _ = try caller.answer(to: Start.self) }
        let lister = try Caller(of: daemon)
        try lister.send(List(), more: true)
        lister.connection.closeWriting()
        var count = 0
        while true {
            let page = try lister.answer(to: List.self)
            count += page.value.countdowns.count
            if !page.continues { break }
        }
        #expect(count == 1_000)
        #expect(try lister.connection.nextMessage() == nil)
    }

    /// The state in which a client vanishes: the calls that it sent, whether it reads the answers, the beginning of a
    /// message, and which sides it closes.
    struct Leaving: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let messages: [String]
        let answers: Int
        let half: String
        let closesWriting: Bool
        let closesReading: Bool

        fileprivate init(
            _ description: String,
            _ messages: [String],
            answers: Int = 1,
            half: String = "",
            closesWriting: Bool = false,
            closesReading: Bool = false
        ) {
            testDescription = description
            (self.messages, self.answers, self.half) = (messages, answers, half)
            (self.closesWriting, self.closesReading) = (closesWriting, closesReading)
        }
    }

    private static let watch = #"{"method":"io.countdownd.Watch","more":true}"#
    private static let list = #"{"method":"io.countdownd.List","more":true}"#
    private static let wait = #"{"method":"io.countdownd.Wait","parameters":{"key":"far"}}"#
    private static let cancel = #"{"method":"io.countdownd.Cancel","parameters":{"key":"far"}}"#

    private static func watching(_ parameters: String) -> String {
        #"{"method":"io.countdownd.Watch","more":true,"parameters":{\#(parameters)}}"#
    }

    static let leavings: [Leaving] = [
        Leaving("before it says anything", [], answers: 0), Leaving("after an answer", [status]),
        Leaving("with an answer that it does not read", [status, status]), Leaving("while it waits", [status, wait]),
        Leaving("while it waits, with calls behind that", [status, wait, status, watch]),
        Leaving("while it watches", [watch]),
        Leaving(
            "while it watches with ticks and heartbeats",
            [watching(#""tickUSec":10000,"heartbeatUSec":1000000"#)],
            answers: 2
        ),
        Leaving("while it watches, with calls behind that", [watch, status]),
        Leaving("while it watches and reads nothing", [watch], answers: 0), Leaving("in the midst of a list", [list]),
        Leaving("in the midst of a message", [status], half: cancel),
        Leaving("in the midst of a message behind a wait", [status, wait], half: cancel),
        Leaving("in the midst of the state, from a revision on", [watching(#""since":1,"tickUSec":0"#), watch]),
        Leaving("having closed the writing side", [watch], closesWriting: true),
        Leaving("having closed the reading side", [watch], closesReading: true),
        Leaving(
            "having closed both sides, with answers under way",
            [String](repeating: list, count: 20),
            closesWriting: true,
            closesReading: true
        ),
    ]

    @Test("a client that vanishes leaves nothing behind", arguments: leavings)
    func vanishes(_ leaving: Leaving) throws {
        _ = try caller.call(Start(key: "far", durationUSec: .seconds(3_600)))
        for number in 0..<2_000 { try caller.send(Start(key: "\(number)"), oneway: true) }
        do {
            let connection = try daemon.connect()
            for message in leaving.messages { try connection.send(message: message) }
            for _ in 0..<leaving.answers { _ = try connection.message() }
            try connection.send(Array(leaving.half.utf8))
            if leaving.closesWriting { connection.closeWriting() }
            if leaving.closesReading { connection.closeReading() }
        }
        try waitUntil("one connection") { try caller.call(GetStatus()).connections <= 1 }
        let status = try caller.call(GetStatus())
        #expect(status.watchers == 0)
        #expect(status.running == 2_001)
        _ = try caller.call(Finish(key: "far"))
        #expect(try caller.call(GetStatus()).counters["slowPeers"] == 0)
    }
}
