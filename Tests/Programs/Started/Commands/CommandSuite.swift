import Foundation
import IPC
import TestSupport
import Testing

/// A daemon and a user at the command line.
class CommandSuite {
    private(set) var daemon: DaemonProcess
    let typist: Typist
    /// For files of the test.
    let directory: TemporaryDirectory
    /// The file that `OUT` names in the environment of `begin`.
    var out: String { directory.path(of: "out") }

    init() throws {
        daemon = try DaemonProcess()
        typist = Typist(daemon)
        directory = try TemporaryDirectory()
    }

    /// Runs command lines that have to succeed.
    func prepare(_ lines: String...) throws {
        for line in lines { #expect(try typist.type(line).exitCode == 0, "\(line)") }
    }

    /// Starts countdownctl, with a standard input that stays open.
    func begin(_ words: [String], _ environment: [String: String] = [:]) throws -> RunningCommand {
        let own = ["COUNTDOWND_SOCKET": daemon.socketPath, "TZ": "UTC0", "OUT": out]
        return try RunningCommand(words, environment: own.merging(environment) { $1 }, input: nil)
    }

    /// Kills the daemon and starts another on its state.
    func restartDaemon() throws {
        try daemon.kill()
        daemon = try DaemonProcess(in: daemon.directory)
    }

    /// Starts countdowns and finishes them, one after the other.
    func end(_ keys: [String]) throws {
        let caller = try Caller(of: daemon)
        for key in keys {
            _ = try caller.call(Start(key: key, durationUSec: .seconds(3600)))
            _ = try caller.call(Finish(key: key))
        }
    }

    /// Waits until that many starts are queued.
    func awaitQueue(_ count: Int64) throws {
        let caller = try Caller(of: daemon)
        try waitUntil("\(count) starts to queue") { try caller.call(GetStatus()).queuedStarts == count }
    }

    /// A member of the object that `show KEY --json` prints.
    func shown(_ name: String, of key: String) throws -> String? {
        try member(name, of: typist.type("show \(key) --json").standardOutput)
    }

    /// The lines of `out` so far.
    func lines() -> [String] {
        ((try? String(contentsOfFile: out, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    /// Waits for a number of lines in `out`, and returns them.
    @discardableResult
    func lines(_ count: Int) throws -> [String] {
        try waitUntil("\(count) lines in \(out)") { lines().count >= count }
        return lines()
    }
}
