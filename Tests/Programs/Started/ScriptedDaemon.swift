import TestSupport
import Testing

/// A daemon whose replies a test gives.
final class ScriptedDaemon {
    private let directory: TemporaryDirectory
    private let socket: ListeningSocket
    /// The path of its socket.
    var path: String { socket.path }
    /// A user of this daemon.
    var typist: Typist { Typist(at: path) }

    init() throws {
        directory = try TemporaryDirectory()
        socket = try ListeningSocket(path: directory.path(of: "socket"))
    }

    /// The next client.
    func accept() throws -> RawConnection { try socket.accept() }

    /// Accepts a client and answers its first call, which has to contain a text and may have to lack another. The connection
    /// is open as long as it is held.
    @discardableResult
    func answer(_ call: String, without absent: String? = nil, _ reply: String) throws -> RawConnection {
        let client = try accept()
        try answer(call, without: absent, of: client, reply)
        return client
    }

    /// Answers the next call of a client.
    func answer(_ call: String, without absent: String? = nil, of client: RawConnection, _ reply: String) throws {
        let message = try client.message()
        #expect(message.contains(call) && absent.map { message.contains($0) } != true, "\(message)")
        try client.send(message: reply)
    }
}

/// Replies of a daemon.
enum Answer {
    /// Events, after which more follow.
    static func events(_ events: String...) -> String {
        #"{"parameters":{"events":[\#(events.joined(separator: ","))]},"continues":true}"#
    }

    static func synced(_ revision: Int) -> String { #"{"type":"synced","revision":\#(revision)}"# }

    /// A running countdown that is over soon.
    static func countdown(_ key: String, seconds: Int = 9, revision: Int = 7, more: String = "") -> String {
        #"{"key":"\#(key)","state":"running","clock":"elapsed","durationUSec":\#(seconds)000000,"#
            + #""remainingUSec":\#(seconds)000000,"startedUSec":1,"deadlineUSec":2,\#(more)"forget":true,"#
            + #""revision":\#(revision)}"#
    }

    static func error(_ name: String, _ parameters: String) -> String {
        #"{"error":"io.countdownd.\#(name)","parameters":{\#(parameters)}}"#
    }

    static let none = #"{"parameters":{"countdowns":[]}}"#
    static let historyTrimmed = error("HistoryTrimmed", #""oldestRevision":8"#)
    static let unreachable = error("Unreachable", #""reason":"silent for 2 s""#)
}
