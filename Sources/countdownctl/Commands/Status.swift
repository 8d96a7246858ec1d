import ArgumentParser
import Glibc
import IPC
import System

struct StatusCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of the daemon, or of a countdown.",
        usage: "countdownctl status [KEY] [--all] [options]",
        discussion: """
            Examples:
              countdownctl status
              countdownctl status --all          with its limits
              countdownctl status --json
              countdownctl status tea            the same as show tea
            """
    )

    @Argument(help: "The key.", completion: KeyCompletion.kind)
    var key: String?

    @Flag(name: .shortAndLong, help: "Show the limits of the daemon, too.")
    var all = false

    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let output = options.output
        if let key { return try ShowCommand.show(key, output) }
        let status = try DaemonEndpoint().call(GetStatus())
        if let style = output.json {
            try output.print(json: JSONText.object(status, style))
        } else if !output.isQuiet {
            let details = StatusDetails(
                status: status,
                clientVersion: Version.current,
                lingers: RemoteInvocation.isInside ? nil : Lingering.isEnabled(),
                all: all,
                clock: .local
            )
            try output.print(details.lines)
        }
        return .success
    }
}

/// The daemon's state as `status` prints it.
struct StatusDetails {
    let status: GetStatus.Reply
    /// The version of this program.
    let clientVersion: String
    /// Nil if it is unknown whether the user's services run without a session.
    let lingers: Bool?
    /// Whether the limits are shown.
    let all: Bool
    let clock: ClockText

    var lines: [String] {
        var lines = ["countdownd \(PrintableText.escape(status.version)), since \(since)"]
        if status.version != clientVersion {
            let difference = "differs from countdownctl \(clientVersion)"
            lines.append(field("Version", "\(difference); \(VersionMismatch.remedy)"))
        }
        lines += [
            field("Running", "\(status.running)"),
            field("Paused", "\(status.paused)"),
            field("Queued", "\(status.queuedStarts ?? 0)"),
            field("Watchers", "\(status.watchers) on \(counted(status.connections, "connection"))"),
            field("Revision", "\(status.revision), history since \(status.oldestRevision)"),
        ]
        if let lingers {
            lines.append(field("Lingers", lingers ? "yes, the daemon runs without a session" : withoutLinger))
        }
        if let fleet = status.fleet {
            let text = FleetText(fleet: fleet, clock: clock)
            lines.append(field("Fleet", text.following))
            if let engine = text.engine { lines.append(field("Engine", engine)) }
        }
        lines += map("Counters", status.counters)
        if all { lines += map("Limits", status.limits) }
        return lines
    }

    private var since: String { clock.renderBeginning(status.startedUSec) }

    private var withoutLinger: String {
        "no, the daemon stops with the last session and delivers ends late; `loginctl enable-linger` keeps it running"
    }

    private func field(_ name: String, _ value: String) -> String {
        "\(String(repeating: " ", count: 9 - name.count))\(name): \(value)"
    }

    private func map(_ title: String, _ values: [String: Int64]) -> [String] {
        guard !values.isEmpty else { return [] }
        var table = Table(columns: [Table.Column(title: ""), Table.Column(title: "", alignsRight: true)])
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            table.append([Table.Cell(text: PrintableText.escape(name)), Table.Cell(text: "\(value)")])
        }
        return [field(title, "")].map { String($0.dropLast()) }
            + table.lines(legend: false, palette: .plain).map { "           \($0)" }
    }
}

/// `1 connection`, `2 connections`.
func counted(_ number: Int64, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

/// Whether the services of a user run without a session of his, as systemd-logind keeps it.
enum Lingering {
    /// Nil if the user's name is unknown.
    static func isEnabled() -> Bool? {
        guard let user = userName(uid: geteuid(), environment: Environment.value) else { return nil }
        return unsafe access("/var/lib/systemd/linger/\(user)", F_OK) == 0
    }

    /// The name in /etc/passwd or the environment: getpwuid(3) would load libraries into a static executable.
    private static func userName(uid: UInt32, environment: (String) -> String?) -> String? {
        userName(uid: uid, in: TextFile.lines(of: "/etc/passwd")) ?? environment("USER") ?? environment("LOGNAME")
    }

    /// The name of a user in lines in the form of passwd(5).
    static func userName(uid: UInt32, in lines: [Substring]) -> String? {
        for line in lines {
            let fields = line.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
            if fields.count == 4, UInt32(fields[2]) == uid { return String(fields[0]) }
        }
        return nil
    }
}

/// A file that the system keeps as text.
private enum TextFile {
    /// Its lines; empty if it cannot be read.
    static func lines(of path: String) -> [Substring] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }
}
