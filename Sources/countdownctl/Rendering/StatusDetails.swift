import IPC
import System

/// The daemon's state as `status` prints it.
struct StatusDetails {
    let status: GetStatus.Reply
    /// The version of this program.
    let clientVersion: String
    /// Nil where it is not known whether the user's services run without a session.
    let lingers: Bool?
    /// Whether the limits are shown.
    let all: Bool
    let clock: ClockText

    var lines: [String] {
        var lines = ["countdownd \(PrintableText.escape(status.version)), since \(since)"]
        if status.version != clientVersion {
            let difference = "differs from that of this countdownctl, which is \(clientVersion)"
            lines.append(field("Version", "\(difference); \(OlderDaemon.remedy)"))
        }
        lines += [
            field("Running", "\(status.running)"),
            field("Paused", "\(status.paused)"),
            field("Watchers", "\(status.watchers) on \(counted(status.connections, "connection"))"),
            field("Revision", "\(status.revision), endings are kept after \(status.oldestRevision)"),
        ]
        if let lingers {
            lines.append(field("Lingers", lingers ? "yes, it runs without a session too" : withoutLinger))
        }
        lines += map("Counters", status.counters)
        if all { lines += map("Limits", status.limits) }
        return lines
    }

    private var since: String {
        let running = max(0, clock.now.clampedDifference(from: status.startedUSec)) / 1_000_000 * 1_000_000
        return "\(clock.render(status.startedUSec)) (\(LengthText.render(running)))"
    }

    private var withoutLinger: String {
        "no, it ends with the user's last session and tells endings late; `loginctl enable-linger` keeps it running"
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
