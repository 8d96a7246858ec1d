import IPC
import TestSupport
import Testing

/// A message that violates Varlink.
struct BrokenMessage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]

    private init(_ name: String, _ bytes: [UInt8]) {
        testDescription = name
        self.bytes = bytes
    }

    private init(_ name: String, _ text: String) {
        self.init(name, Array(text.utf8) + [0])
    }

    /// A call of Get with a key of these bytes.
    private static func key(_ bytes: [UInt8]) -> [UInt8] {
        Array(#"{"method":"io.countdownd.Get","parameters":{"key":""#.utf8) + bytes + Array(#""}}"#.utf8) + [0]
    }

    private static func nested(_ depth: Int) -> String {
        let arrays = String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
        return #"{"method":"io.countdownd.GetStatus","a.b":\#(arrays)}"#
    }

    /// One of each kind; `ViolationTests` and `JSONValidationTests` have the others.
    static let all: [BrokenMessage] = [
        BrokenMessage("an HTTP request", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        BrokenMessage("nothing before the NUL", ""),
        BrokenMessage("an object that is not closed", #"{"method":"io.countdownd.GetStatus""#),
        BrokenMessage("two objects in one message", #"{"method":"io.countdownd.GetStatus"}{}"#),
        BrokenMessage("a number with a leading zero", #"{"method":"io.countdownd.GetStatus","a.b":01}"#),
        BrokenMessage("a newline in a string", "{\"method\":\"io.countdownd.GetStatus\",\"a.b\":\"\n\"}"),
        BrokenMessage("an unknown escape", #"{"method":"io.countdownd.GetStatus","a.b":"\x"}"#),
        BrokenMessage("an array", "[]"),
        BrokenMessage("no method", "{}"),
        BrokenMessage("a method that is no string", #"{"method":1}"#),
        BrokenMessage("parameters that are an array", #"{"method":"io.countdownd.GetStatus","parameters":[]}"#),
        BrokenMessage("an unknown field", #"{"method":"io.countdownd.GetStatus","id":1}"#),
        BrokenMessage("a flag that is a number", #"{"method":"io.countdownd.GetStatus","oneway":1}"#),
        BrokenMessage("more and oneway", #"{"method":"io.countdownd.GetStatus","more":true,"oneway":true}"#),
        BrokenMessage("objects in objects, 65 deep", nested(65)),
        BrokenMessage("brackets without end", String(repeating: "[", count: 200_000)),
        BrokenMessage("UTF-8 that is cut off", key([0xC3])),
        BrokenMessage("a surrogate in UTF-8", key([0xED, 0xA0, 0x80])),
        BrokenMessage("half a surrogate pair in a field", #"{"method":"io.countdownd.GetStatus","a.b":"\ud83d"}"#),
        BrokenMessage("a message over the limit", [UInt8](repeating: UInt8(ascii: " "), count: 262_145)),
    ]
}

@Suite("Messages that violate Varlink")
struct BrokenMessageTests {
    private let daemon: SmallDaemon
    private let bystander: Bystander

    init() throws {
        daemon = try SmallDaemon()
        bystander = try Bystander(of: daemon)
    }

    @Test("the connection is closed, and other clients notice nothing", arguments: BrokenMessage.all)
    func closes(_ message: BrokenMessage) throws {
        let connection = try daemon.connect()
        try connection.send(message.bytes)
        #expect(try connection.nextMessage() == nil)
        try bystander.noticesNothing()
    }

    @Test("calls before the message are answered, calls after it are not")
    func answersBefore() throws {
        let connection = try daemon.connect()
        let get = #"{"method":"io.countdownd.Get","parameters":{"key":"own"}}"#
        let cancel = #"{"method":"io.countdownd.Cancel","parameters":{"key":"own"}}"#
        try connection.send(Array("\(get)\0\(get)\0hello\0\(cancel)\0".utf8))
        #expect(try connection.message().contains(#""key":"own""#))
        #expect(try connection.message().contains(#""key":"own""#))
        #expect(try connection.nextMessage() == nil)
        try bystander.noticesNothing()
    }

    @Test("a message that comes byte by byte delays no other client, and its last byte completes the call")
    func byteByByte() throws {
        let connection = try daemon.connect()
        let call = Array(#"{"method":"io.countdownd.GetStatus"}"#.utf8) + [0]
        for byte in call {
            try connection.send([byte])
            _ = try bystander.status()
        }
        #expect(try connection.message().hasPrefix(#"{"parameters":{"version""#))
        try bystander.noticesNothing()
    }

    @Test("half a message before the end is dropped")
    func halfBeforeEnd() throws {
        let connection = try daemon.connect()
        try connection.send(Array(#"{"method":"io.countdownd.Cancel","parameters":{"key":"own"}}"#.utf8))
        connection.closeWriting()
        #expect(try connection.nextMessage() == nil)
        try bystander.noticesNothing()
    }

    @Test("a message of the greatest length is read")
    func greatestLength() throws {
        let connection = try daemon.connect()
        let call = #"{"method":"io.countdownd.Get","parameters":{"key":"own"}}"#
        let padding = String(repeating: " ", count: 262_144 - call.utf8.count)
        #expect(try connection.exchange(call + padding).contains(#""key":"own""#))
        try connection.send(message: call + padding + " ")
        #expect(try connection.nextMessage() == nil)
        try bystander.noticesNothing()
    }

    @Test("unusual but allowed messages are answered")
    func allowed() throws {
        let connection = try daemon.connect()
        let calls = [
            "\t{ \"method\" : \"io.countdownd.GetStatus\" }\r\n",
            #"{"method":"io.countdownd.GetStatus","parameters":null,"more":null,"oneway":false,"upgrade":null}"#,
            #"{"method":"io.countdownd.GetStatus","parameters":{},"more":true,"oneway":false}"#,
            #"{"method":"io.countdownd.GetStatus","com.example.trace":{"id":[1,2.5e3,null]}}"#,
            #"{"method":"io.countdownd.Get","method":"io.countdownd.GetStatus"}"#,
            #"{"\u006dethod":"io\u002ecountdownd.GetStatus"}"#,
        ]
        for call in calls { #expect(try connection.exchange(call).hasPrefix(#"{"parameters":{"version""#)) }
        try bystander.noticesNothing()
    }
}
