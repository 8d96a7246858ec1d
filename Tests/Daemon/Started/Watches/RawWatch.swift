import Foundation
import IPC
import TestSupport

/// A client with a `Watch` that keeps long replies as text. If it is disconnected because it has not read for long, it
/// resumes with the newest revision that it has seen.
final class RawWatch {
    private let daemon: DaemonProcess
    private let pattern: String
    private var connection: RawConnection
    private var newest: Substring

    /// Watches the keys that match a pattern, without ticks, and does not wait.
    init(of daemon: DaemonProcess, _ pattern: String, since revision: Int64) throws {
        self.daemon = daemon
        self.pattern = pattern
        connection = try daemon.connect()
        newest = "\(revision)"
        try watch()
    }

    private func watch() throws {
        let parameters = #"{"tickUSec":0,"match":["\#(pattern)"],"since":\#(newest)}"#
        try connection.send(message: #"{"method":"io.countdownd.Watch","more":true,"parameters":\#(parameters)}"#)
    }

    /// The next reply.
    func reply(until deadline: Deadline = Deadline()) throws -> String {
        while true {
            do {
                if let reply = try connection.nextMessage(until: deadline) {
                    guard !reply.hasPrefix(#"{"error""#) else { throw Refused(description: reply) }
                    takeNote(of: reply)
                    return reply
                }
            } catch is RawConnection.Cut {}
            guard !deadline.hasPassed else { throw Refused(description: "disconnected again and again") }
            connection = try daemon.connect()
            try watch()
        }
    }

    private func takeNote(of reply: String) {
        guard let name = reply.range(of: #""revision":"#, options: .backwards) else { return }
        newest = reply[name.upperBound...].prefix { $0.isNumber }
    }

    /// The keys of the events of a type in a reply, in their order.
    static func keys(of type: Event.Kind, in reply: String) -> [String] {
        reply.components(separatedBy: #"{"type":""#).dropFirst().filter { $0.hasPrefix("\(type)\"") }.map { event in
            String(event.components(separatedBy: #""key":""#)[1].prefix { $0 != "\"" })
        }
    }

    /// The watch was answered with an error.
    struct Refused: Error, CustomStringConvertible {
        let description: String
    }
}
