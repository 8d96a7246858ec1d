import Foundation
import Glibc
import RESP
import TestSupport

/// A server that answers each command as a test chooses.
final class FakeEngine: Sendable {
    enum Reply: Sendable {
        case text(String)
        /// The text, and then the second one again and again until the connection is closed.
        case endless(String, String)
        /// The text, and the second one once the test wants it.
        case later(String, String, when: @Sendable () -> Bool)
        /// The text, and then it closes the connection.
        case close(String)
    }

    /// The answers of a healthy Redis up to the first proposal and follower; nil for other commands.
    static func healthy(_ command: [String], version: String = "7.0.15") -> Reply? {
        let info = "redis_version:\(version)\r\nrole:master\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n"
        let settings = [
            "format": 2, "shards": 1, "retention": 600_000_000, "margin": 50_000, "log": 65_536,
            "countdowns": 4_000_000,
        ]
        switch command.first {
        case "INFO": return bulk(info)
        case "HGET" where command[1].hasSuffix("about"): return bulk("\(settings[command[2]] ?? 0)")
        case "SCRIPT": return bulk("s")
        case "TIME": return time(Date().timeIntervalSince1970)
        case "AUTH", "MULTI", "EXEC", "DISCARD", "SSUBSCRIBE", "PING": return .text("+OK\r\n")
        // The check of permissions has no script and no COUNT.
        case "EVAL" where !command[1].isEmpty, "EVALSHA" where !command[1].isEmpty: return nil
        case "XRANGE" where command.count > 4, "HSCAN" where command.count > 3: return nil
        default: return .text("+QUEUED\r\n")
        }
    }

    static func bulk(_ text: String) -> Reply { .text("$\(text.utf8.count)\r\n\(text)\r\n") }

    static func time(_ seconds: Double) -> Reply {
        let microseconds = Int(seconds * 1_000_000) % 1_000_000
        return .text("*2\r\n:\(Int(seconds))\r\n:\(microseconds)\r\n")
    }

    let port: Int
    private let listener: Int32

    /// Listens on loopback; the closure answers each command of each connection.
    init(_ answer: @escaping @Sendable ([String]) -> Reply) throws {
        let (listener, port) = try LoopbackPort.listen()
        self.port = Int(port)
        self.listener = listener
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { Self.serve(connection, answer) }
            }
        }
    }

    /// Ends the thread that accepts; the others end with their connections.
    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ connection: Int32, _ answer: ([String]) -> Reply) {
        defer { close(connection) }
        var reader = RESPReader()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return }
            reader.receive(buffer.span.extracting(0..<count))
            while let command = try? reader.next() {
                switch answer((command.elements ?? []).compactMap(\.text)) {
                case .text(let text): guard send(text, to: connection) else { return }
                case .later(let text, let rest, let isDue):
                    guard send(text, to: connection), (try? waitUntil("the test wants it") { isDue() }) != nil,
                        send(rest, to: connection)
                    else { return }
                case .close(let text):
                    _ = send(text, to: connection)
                    return
                case .endless(let text, let rest):
                    guard send(text, to: connection) else { return }
                    let many = String(repeating: rest, count: max(1, 32_768 / max(1, rest.utf8.count)))
                    while send(many, to: connection) {}
                    return
                }
            }
        }
    }

    /// - Returns: false if the connection is closed.
    private static func send(_ text: String, to connection: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

extension FakeEngine {
    /// The script's reply to one proposal that is too early.
    static var early: String { "*2\r\n\(now)*1\r\n$5\r\nearly\r\n" }
    /// The script's reply to one proposal that has won.
    static var won: String { "*2\r\n\(now)*2\r\n$3\r\nwon\r\n$1\r\n6\r\n" }

    private static var now: String { ":\(Int(Date().timeIntervalSince1970 * 1_000_000))\r\n" }

    /// The answers to a follower of an engine without records, at version 5; nil for other commands.
    static func empty(_ command: [String]) -> Reply? {
        switch command.first {
        // The script that looks up a position has one argument.
        case "EVAL" where command.count == 7: .text("*4\r\n:5\r\n$-1\r\n*0\r\n*0\r\n")
        case "EVAL": .text("*2\r\n:5\r\n*0\r\n")
        case "HSCAN": .text("*2\r\n$1\r\n0\r\n*0\r\n")
        case "XRANGE": .text("*0\r\n")
        default: nil
        }
    }
}
