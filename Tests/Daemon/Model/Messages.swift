import Foundation

// The messages of io.countdownd, written from the interface definition and docs/protocol.md, not from the sources of the
// daemon or its clients.

/// A countdown on the wire.
struct Countdown: Decodable, Equatable {
    var key: String
    var state: String
    var clock: String
    var durationUSec: Int
    var remainingUSec: Int
    var startedUSec: Int
    var deadlineUSec: Int?
    var endedUSec: Int?
    var label: String?
    var metadata: [String: String]?
    var forget: Bool
    var revision: Int

    var isRunning: Bool { state == "running" }
    var isPaused: Bool { state == "paused" }
    var isAlive: Bool { isRunning || isPaused }
    /// Whether it is an end that the daemon keeps for clients that come back.
    var isKeptEnd: Bool { !isAlive && !forget }
}

struct Event: Decodable {
    var type: String
    var revision: Int?
    var key: String?
    var remainingUSec: Int?
    var lateUSec: Int?
    var countdown: Countdown?
}

/// The parameters of every method and error; absent members are nil.
struct Parameters: Codable {
    var key: String?
    var durationUSec: Int?
    var deadlineUSec: Int?
    var byUSec: Int?
    var ifRunning: String?
    var label: String?
    var metadata: [String: String]?
    var forget: Bool?
    var ifRevision: Int?
    var match: [String]?
    var keys: [String]?
    var states: [String]?
    var soonest: Int?
    var tickUSec: Int?
    var since: Int?
    var heartbeatUSec: Int?
    var upToUSec: Int?
    var maxDurationUSec: Int?
    var queueUpTo: Int?
}

struct Call: Encodable {
    var method: String
    var parameters = Parameters()
    var more: Bool?

    var message: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .withoutEscapingSlashes
            var call = self
            call.method = "io.countdownd.\(method)"
            return String(decoding: try encoder.encode(call), as: UTF8.self)
        }
    }
}

/// A reply to any method, or an error.
struct Reply: Decodable {
    struct Parameters: Decodable {
        var outcome: String?
        var countdown: Countdown?
        var countdowns: [Countdown]?
        var events: [Event]?
        var revision: Int?
        var oldestRevision: Int?
        var parameter: String?
        var retryAfterUSec: Int?
    }

    var parameters: Parameters?
    var error: String?
    var continues: Bool?

    init(_ message: String) throws {
        self = try JSONDecoder().decode(Reply.self, from: Data(message.utf8))
    }

    /// The error without its interface.
    var errorName: String? { error.map { String($0.split(separator: ".").last ?? "") } }
}

/// Whether countdowns of this key may be started with forget. Such a start and its end can pass unseen, also behind a call
/// whose reply a kill prevented; the other keys allow strict checks.
func mayForget(_ key: String) -> Bool { key.split(separator: "/").last.flatMap { Int($0) } ?? 0 >= 14 }

/// The countdowns that a List or a Watch is about. The patterns of this test are prefixes with a star.
struct Filter {
    var keys: [String]?
    var match: [String]?

    func matches(_ key: String) -> Bool {
        if keys == nil, match == nil { return true }
        return keys?.contains(key) ?? false || match?.contains { key.hasPrefix($0.dropLast()) } ?? false
    }
}
