import IPC
import Text

/// A daemon's place in its fleet, for `status`.
struct FleetText {
    let fleet: GetStatus.Fleet
    let clock: ClockText
    let refusesChanges: Bool

    /// How the countdowns of the fleet are followed: `fleet on Redis 7.0.15, live since 17:30:05 (2m)`.
    var following: String {
        let name = fleet.namespace.map { PrintableText.escape($0) }
        let engine = fleet.engine.map { "on \(PrintableText.escape($0))," }
        let shards = fleet.shards.map(state).joined(separator: "; ")
        return [name, engine, shards].compactMap(\.self).joined(separator: " ")
    }

    private func state(_ shard: GetStatus.Shard) -> String {
        let reason = shard.reason.map { ": \(PrintableText.escape($0))" } ?? ""
        let lag = shard.state == .live && shard.lagUSec > 0 ? ", \(DurationFormat.render(shard.lagUSec)) behind" : ""
        let refusal = shard.state == .live && refusesChanges ? ", and changes are refused" : ""
        return "\(shard.state.rawValue) since \(clock.renderBeginning(shard.sinceUSec))\(lag)\(refusal)\(reason)"
    }

    /// How fast the engine answers, and how its clock differs; nil if neither is known.
    var engine: String? {
        let clauses = [answers, clockLead].compactMap(\.self)
        return clauses.isEmpty ? nil : clauses.joined(separator: "; ")
    }

    private var answers: String? {
        let times = fleet.roundTrip
        guard times.count > 0 else { return nil }
        return times.distribution(of: "answer")
    }

    private var clockLead: String? {
        guard let lead = fleet.clockAheadUSec else { return nil }
        let direction = lead < 0 ? "behind" : "ahead"
        let error = fleet.clockErrorUSec.map { ", at most \(DurationFormat.render($0)) off that" } ?? ""
        return "its clock is \(DurationFormat.render(Int64(clamping: lead.magnitude))) \(direction)\(error)"
    }
}
