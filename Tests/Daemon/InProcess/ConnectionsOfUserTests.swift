import CountdownCore
import Glibc
import IPC
import TestSupport
import Testing
import Varlink

@testable import countdownd

@Suite("Connections of one user", .enabled(if: geteuid() == 0, "only root can connect as another user"))
struct ConnectionsOfUserTests {
    private static let user: UInt32 = 65_534
    private static let other: UInt32 = 65_533

    private let lines = Lines()
    private let daemon: SmallDaemon

    init() throws {
        var options = Options()
        options.access = .socket
        daemon = try SmallDaemon(log: lines.log, options: options) {
            $0.connectionsPerUser = 2
            $0.refusalsPerUser = 1
        }
        try daemon.letAllIn()
    }

    private func served(_ user: UInt32? = user) throws -> Caller {
        let caller = Caller(on: try daemon.connect(as: user))
        _ = try caller.call(GetStatus())
        return caller
    }

    @Test("beyond the limit get an error and are closed; other users, root and the open connections are served")
    func refused() throws {
        let first = try served()
        let second = try served()
        let third = Caller(on: try daemon.connect(as: Self.user))
        #expect(throws: CountdownError.limitReached(limit: "connectionsPerUser", maximum: 2)) {
            try third.call(Start(key: "tea"))
        }
        #expect(try third.connection.nextMessage() == nil)
        for caller in [first, second, try served(Self.other), try served(nil)] {
            #expect(try caller.call(GetStatus()).running == 0)
        }
        #expect(try first.call(GetStatus()).limits["connectionsPerUser"] == 2)
    }

    @Test("are accepted again when an earlier one is closed")
    func servedAgain() throws {
        let first = try served()
        var second: Caller? = try served()
        #expect(throws: CountdownError.self) { try served() }
        _ = second
        second = nil
        try waitUntil("the end of the second connection") { try first.call(GetStatus()).connections <= 1 }
        second = try served()
        #expect(try first.call(GetStatus()).connections == 2)
    }

    @Test("that send nothing are closed and logged beyond the number that is kept for the error reply")
    func silent() throws {
        let caller = try served(nil)
        let kept = try (0..<3).map { _ in try daemon.connect(as: Self.user) }
        for _ in 0..<20 { #expect(try daemon.connect(as: Self.user).nextMessage() == nil) }
        let status = try caller.call(GetStatus())
        #expect(status.connections == 1 + kept.count)
        #expect(status.counters["excessPeers"] == 20)
        let line = "warning: closing a connection of user 65534, who has 2 open"
        #expect(lines.all.filter { $0.hasPrefix(line) } == [String](repeating: line, count: 10))
    }

    @Test("are limited too if the user may not call")
    func denied() throws {
        let daemon = try SmallDaemon {
            $0.connectionsPerUser = 2
            $0.refusalsPerUser = 1
        }
        try daemon.letAllIn()
        let kept = try (0..<3).map { _ in try daemon.connect(as: Self.user) }
        #expect(try daemon.connect(as: Self.user).nextMessage() == nil)
        for connection in kept {
            #expect(try connection.exchange(#"{"method":"a.b.C"}"#).contains("PermissionDenied"))
        }
        _ = try daemon.caller().call(GetStatus())
    }
}
