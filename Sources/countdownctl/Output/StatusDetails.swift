import IPC
import System
import Text

/// The daemon's state as `status` prints it.
struct StatusDetails {
    let status: GetStatus.Reply
    /// The version of this program.
    let clientVersion: String
    /// Nil if it is unknown, or does not matter, whether the user's services run without a session.
    let lingers: Bool?
    /// Nil if no desktop is known.
    var notifier: NotifierStatus?
    /// The changes that will be undone.
    var undos: [UndoRecord] = []
    /// Whether counters and limits are shown.
    let all: Bool
    let clock: ClockText

    var lines: [String] {
        let since = clock.renderBeginning(status.startedUSec)
        var lines = ["countdownd \(PrintableText.escape(status.version)), since \(since)"]
        if status.version != clientVersion {
            let difference = "differs from countdownctl \(clientVersion)"
            lines.append(field("Version", "\(difference); \(VersionMismatch.remedy)"))
        }
        let queued = counted(status.queuedStarts ?? 0, "start")
        let connections = counted(status.connections, "connection")
        lines += [
            field("Countdowns", "\(status.running) running, \(status.paused) paused, \(queued) queued"),
            field("Clients", "\(connections), \(counted(status.watchers, "watcher"))"),
            field("Lateness", lateness),
            field("Storage", storage),
        ]
        lines += undos.map { field("Undo", $0.state(clock)) }
        if let notifier { lines.append(field("Notifier", notifier.sentence)) }
        if let fleet = status.fleet {
            let text = FleetText(fleet: fleet, clock: clock, refusesChanges: status.storageFailure != nil)
            lines.append(field("Fleet", text.following))
            if let engine = text.engine { lines.append(field("Engine", engine)) }
        }
        if let lingers, all || !lingers {
            lines.append(field("Lingers", lingers ? "yes, the daemon runs without a session" : withoutLinger))
        }
        if all {
            lines.append(field("Revision", "\(status.revision), history since \(status.oldestRevision)"))
            lines += map("Queues", status.queues ?? [:])
            lines += map("Counters", status.counters)
            lines += map("Limits", status.limits)
        }
        return lines
    }

    private var lateness: String {
        guard let lateness = status.lateness, lateness.count > 0 else { return "no countdown has ended yet" }
        let greatest = DurationFormat.render(lateness.greatestUSec)
        return "\(lateness.distribution(of: "end")), the latest \(greatest)"
    }

    private var storage: String {
        guard let failure = status.storageFailure else { return "changes are stored" }
        return "changes cannot be stored: \(PrintableText.escape(failure))"
    }

    private var withoutLinger: String {
        "no, the daemon stops with the last session and delivers ends late; `loginctl enable-linger` keeps it running"
    }

    private func field(_ name: String, _ value: String) -> String {
        "\(String(repeating: " ", count: 10 - name.count))\(name): \(value)"
    }

    private func map(_ title: String, _ values: [String: Int64]) -> [String] {
        guard !values.isEmpty else { return [] }
        var table = Table(columns: [Table.Column(title: ""), Table.Column(title: "", alignsRight: true)])
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            table.append([Table.Cell(text: PrintableText.escape(name)), Table.Cell(text: "\(value)")])
        }
        return [field(title, "")].map { String($0.dropLast()) }
            + table.lines(legend: false, palette: .plain).map { "            \($0)" }
    }
}

extension GetStatus.Durations {
    /// `half of 12 ends within 60us, 99% within 2ms`.
    func distribution(of noun: String) -> String {
        let (half, most) = (DurationFormat.render(p50USec), DurationFormat.render(p99USec))
        return "half of \(counted(count, noun)) within \(half), 99% within \(most)"
    }
}

/// `1 connection`, `2 connections`.
private func counted(_ number: Int64, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
