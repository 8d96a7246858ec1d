import FakeBackend
import Foundation
import IPC
import TestSupport
import Varlink

/// Daemons that share their countdowns: each has a bridge of its own to one engine.
final class Fleet {
    let backend: FakeBackend
    private(set) var daemons: [DaemonProcess] = []
    private let arguments: [String]

    /// Starts daemons, and waits until they follow the engine.
    init(_ count: Int = 3, arguments: [String] = []) throws {
        backend = try FakeBackend(bridges: count)
        self.arguments = arguments
        for number in 0..<count { daemons.append(try daemon(number)) }
        for number in 0..<count { try awaitLive(number) }
    }

    private func daemon(_ number: Int, in directory: TemporaryDirectory? = nil) throws -> DaemonProcess {
        try DaemonProcess(in: directory, arguments: ["--backend", backend.sockets[number]] + arguments)
    }

    /// Kills a daemon, or ends it.
    func end(_ number: Int, killed: Bool) throws {
        _ = try killed ? daemons[number].kill() : daemons[number].terminate()
    }

    /// Starts a daemon again, with the state that it had.
    func start(_ number: Int) throws { daemons[number] = try daemon(number, in: daemons[number].directory) }

    func caller(_ number: Int = 0) throws -> Caller { try Caller(of: daemons[number]) }

    /// Watches all countdowns on every daemon; the events up to `synced` are read.
    func followers() throws -> [Follower] {
        try daemons.map { try $0.watch() }
    }

    /// Waits until the log of a daemon has a line this often, in all its lives.
    func awaitLog(_ number: Int, _ line: String, times: Int = 1) throws {
        let daemon = daemons[number]
        try waitUntil("\"\(line)\" in \(daemon.standardError)") {
            daemon.standardError.components(separatedBy: line).count > times
        }
    }

    func awaitLive(_ number: Int, times: Int = 1) throws {
        try awaitLog(number, "following the countdowns of the fleet", times: times)
    }

    func awaitLost(_ number: Int, times: Int = 1) throws {
        try awaitLog(number, "the fleet's engine cannot be reached", times: times)
    }

    /// The countdowns that a daemon knows, ended ones included.
    func countdowns(_ number: Int) throws -> [Known] {
        let states: [Countdown.State] = [.running, .paused, .finished, .cancelled]
        return try caller(number).call(all: List(states: states)).flatMap(\.countdowns).map(Known.init)
            .sorted { $0.key < $1.key }
    }

    /// Waits until all daemons know the same countdowns.
    ///
    /// - Returns: these countdowns.
    @discardableResult
    func awaitEqual() throws -> [Known] {
        var found: [[Known]] = []
        try waitUntil("equal countdowns") {
            found = try daemons.indices.map(countdowns)
            return found.allSatisfy { $0 == found[0] }
        }
        return found[0]
    }
}

/// The fields of a countdown that must be alike on all daemons of a fleet. Revisions may differ, and instants by the error
/// of the clocks.
struct Known: Equatable {
    var key: String
    var state: Countdown.State
    var durationUSec: Int64
    var label: String?

    init(_ countdown: Countdown) {
        key = countdown.key
        state = countdown.state
        durationUSec = countdown.durationUSec
        label = countdown.label
    }
}

extension Caller {
    /// Makes a call that is to fail.
    ///
    /// - Returns: the error; nil for an error that is not the interface's.
    func error(of method: some Varlink.Method) throws -> CountdownError? {
        do {
            _ = try call(method)
            return nil
        } catch let error as CountdownError {
            return error
        }
    }

    /// Repeats a call until it succeeds.
    @discardableResult
    func repeated<M: Varlink.Method>(_ method: M) throws -> M.Reply {
        var reply: M.Reply?
        try waitUntil("the success of \(method)") {
            do {
                reply = try call(method)
            } catch CountdownError.storageFailed, CountdownError.unreachable {}
            return reply != nil
        }
        guard let reply else { throw CountdownError.unreachable(reason: "no reply") }
        return reply
    }
}

extension CountdownError {
    /// The reason of `StorageFailed`: the change was certainly not made.
    var refusal: String? {
        guard case .storageFailed(let reason) = self else { return nil }
        return reason
    }

    /// The reason of `Unreachable`: the change may have been made.
    var doubt: String? {
        guard case .unreachable(let reason) = self else { return nil }
        return reason
    }
}
