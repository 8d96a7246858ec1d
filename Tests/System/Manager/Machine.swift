import Foundation
import TestSupport
import Testing

/// The machine that these tests share: a systemd of its own, with users, in which `make install` has installed the
/// programs.
///
/// It ends with this process, however that ends: its script reads an input that ends then.
final class Machine: @unchecked Sendable {
    static let shared = Result { try Machine() }

    /// Why this system can have no machine; nil if it can.
    static let obstacle: String? = {
        do {
            let run = try RunningCommand(["check"], executable: script).finish()
            return run.exitCode == 0 ? nil : "not tried under a real systemd: \(run.standardOutput)"
        } catch {
            return "\(error)"
        }
    }()

    private static let script = BuiltProduct.packageDirectory.path + "/Tests/System/Manager/Machine/machine"

    private let folder: String
    /// Used at the start and the end of this process alone.
    private var command: RunningCommand?

    private init() throws {
        let tree = try TemporaryDirectory()
        try Installation(in: tree).make()
        let command = try RunningCommand(["start", tree.path], executable: Self.script, input: nil)
        guard let line = try command.line() else { throw Unexpected(run: try command.finish(), of: ["start"]) }
        folder = line
        self.command = command
        atexit { try? Machine.shared.get().end() }
    }

    /// Stops it, and waits until nothing of it is left.
    private func end() throws {
        command?.endInput()
        _ = try command?.finish()
        command = nil
    }

    /// Begins a command as root, or as a user with the environment of a login.
    func begin(as user: User, _ command: [String], input: String = "") throws -> RunningCommand {
        try RunningCommand(["run", folder, user.rawValue] + command, executable: Self.script, input: input)
    }

    /// Runs a command to its end.
    func run(as user: User, _ command: [String], input: String = "") throws -> CommandRun {
        try begin(as: user, command, input: input).finish()
    }

    /// Runs a command that must succeed.
    ///
    /// - Returns: its output, without the last newline.
    @discardableResult
    func tell(_ user: User, _ command: String..., input: String = "") throws -> String {
        let run = try run(as: user, command, input: input)
        guard run.exitCode == 0 else { throw Unexpected(run: run, of: command) }
        return run.standardOutput.trimmingCharacters(in: .newlines)
    }

    /// Runs a line of sh(1) that must succeed.
    @discardableResult
    func shell(_ user: User, _ line: String) throws -> String {
        try tell(user, "sh", "-euc", line)
    }

    /// Runs a line of countdownctl for a group's daemon.
    func countdownctl(_ line: String, as user: User, of group: String) throws -> CommandRun {
        let socket = "COUNTDOWND_SOCKET=/run/countdownd/\(group)/io.countdownd"
        return try run(as: user, ["env", socket, "countdownctl"] + line.split(separator: " ").map(String.init))
    }

    /// The messages of the journal that match, each with its fields.
    func journal(_ matches: String...) throws -> [[String: String]] {
        try tell(.root, "journalctl", "--sync")
        let lines = try run(as: .root, ["journalctl", "--quiet", "--output=json"] + matches).standardOutput
        return try lines.split(separator: "\n").map { line in
            let fields = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
            return fields.compactMapValues { $0 as? String }
        }
    }

    struct Unexpected: Error, CustomStringConvertible {
        let run: CommandRun
        let of: [String]

        var description: String {
            "\(of.joined(separator: " ")): \(run.ending)\n\(run.standardOutput)\(run.standardError)"
        }
    }
}

/// The users of the machine. A test that changes a user's files has that user to itself.
enum User: String, CaseIterable {
    /// Alice and Bob are members of the group workers.
    case alice, bob, carol, dave, erin, frank, grace, heidi, ivan, judy, kim, lena, mike, nina, olga, paul, quinn, rosa,
        sara
    case root

    var id: Int { self == .root ? 0 : 47_102 + (Self.allCases.firstIndex(of: self) ?? 0) }
}

extension Trait where Self == ConditionTrait {
    /// Only if this system can have a machine.
    static var onMachine: Self { .enabled(if: Machine.obstacle == nil, Comment(rawValue: Machine.obstacle ?? "")) }
}
