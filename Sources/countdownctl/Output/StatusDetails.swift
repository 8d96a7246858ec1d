import IPC
import System
import Text

/// The daemon's state as `status` prints it.
struct StatusDetails {
    let status: GetStatus.Reply
    let clientVersion: String
    /// Nil if it is unknown, or does not matter, whether the user's services run without a session.
    let lingers: Bool?
    /// Nil if no desktop is known.
    var notifier: NotifierStatus?
    /// The changes that will be undone.
    var undos: [(id: String, record: UndoRecord)] = []
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
        let here = Machine()
        lines += undos.map { id, record in
            field("Undo", here.isOwner(of: record) ? record.state(clock) : record.foreignState(id))
        }
        if let notifier { lines.append(field("Notifier", notifier.sentence)) }
        if let fleet = status.fleet {
            lines.append(field("Fleet", following(fleet)))
            let engine = [answers(fleet), clockLead(fleet)].compactMap(\.self).joined(separator: "; ")
            if !engine.isEmpty { lines.append(field("Engine", engine)) }
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
        let greatest = DurationFormat.rounded(lateness.greatestUSec)
        return "\(lateness.distribution(of: "end")), the latest \(greatest)"
    }

    private var storage: String {
        guard let failure = status.storageFailure else { return "changes are stored" }
        return "changes cannot be stored: \(PrintableText.escape(failure))"
    }

    /// How the countdowns of the fleet are followed: `fleet on Redis 7.0.15, live since 17:30:05 (2m)`.
    private func following(_ fleet: GetStatus.Fleet) -> String {
        let name = fleet.namespace.map { PrintableText.escape($0) }
        let engine = fleet.engine.map { "on \(PrintableText.escape($0))," }
        let shards = fleet.shards.map(state).joined(separator: "; ")
        return [name, engine, shards].compactMap(\.self).joined(separator: " ")
    }

    private func state(_ shard: GetStatus.Shard) -> String {
        let isLive = shard.state == .live
        // Why changes are refused is in the line of the store.
        let reason = isLive ? "" : shard.reason.map { ": \(PrintableText.escape($0))" } ?? ""
        let lag = isLive && shard.lagUSec > 0 ? ", \(DurationFormat.rounded(shard.lagUSec)) behind" : ""
        let refusal = isLive && status.storageFailure != nil ? ", and changes are refused" : ""
        return "\(shard.state.rawValue) since \(clock.renderBeginning(shard.sinceUSec))\(lag)\(refusal)\(reason)"
    }

    /// How fast the engine answers; nil if it is not known.
    private func answers(_ fleet: GetStatus.Fleet) -> String? {
        fleet.roundTrip.count > 0 ? fleet.roundTrip.distribution(of: "answer") : nil
    }

    /// How the engine's clock differs; nil if it is not known.
    private func clockLead(_ fleet: GetStatus.Fleet) -> String? {
        guard let lead = fleet.clockAheadUSec else { return nil }
        let direction = lead < 0 ? "behind" : "ahead"
        let error = fleet.clockErrorUSec.map { ", at most \(DurationFormat.rounded($0)) off that" } ?? ""
        return "its clock is \(DurationFormat.rounded(Int64(clamping: lead.magnitude))) \(direction)\(error)"
    }

    private var withoutLinger: String {
        "no, the daemon stops with the last session and delivers ends late; `loginctl enable-linger` keeps it running"
    }

    private func field(_ name: String, _ value: String) -> String {
        "\(String(repeating: " ", count: 10 - name.count))\(name): \(value)"
    }

    private func map(_ title: String, _ values: [String: Int64]) -> [String] {
        guard !values.isEmpty else { return [] }
        let sorted = values.sorted { $0.key < $1.key }
        let table = Table(columns: [
            Table.Column(title: "", cells: sorted.map { Table.Cell(text: PrintableText.escape($0.key)) }),
            Table.Column(title: "", alignsRight: true, cells: sorted.map { Table.Cell(text: "\($0.value)") }),
        ])
        return [field(title, "")].map { String($0.dropLast()) }
            + table.lines(legend: false, palette: .plain).map { "            \($0)" }
    }
}

extension GetStatus.Durations {
    /// `half of 12 ends within 60us, 99% within 2ms`.
    func distribution(of noun: String) -> String {
        let (half, most) = (DurationFormat.rounded(p50USec), DurationFormat.rounded(p99USec))
        return "half of \(counted(count, noun)) within \(half), 99% within \(most)"
    }
}

/// `1 connection`, `2 connections`.
private func counted(_ number: Int64, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
