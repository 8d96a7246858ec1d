import IPC
import Text

enum StatusFormat: String, CaseIterable {
    /// The text format of OpenMetrics.
    case openmetrics
    /// The older text format of Prometheus.
    case prometheus
}

/// The daemon's figures in a text format: OpenMetrics 1.0, or the older one of Prometheus, which the textfile collector of a
/// node exporter reads. There, the type of a counter has the name of its samples.
struct OpenMetrics {
    private static let prefix = "countdownd_"
    private let format: StatusFormat
    private let labels: [(String, String)]
    private var lines: [String] = []

    /// The lines of a status. All samples have the labels.
    static func lines(
        of status: GetStatus.Reply,
        in format: StatusFormat,
        labels: [(String, String)] = []
    ) -> [String] {
        var text = OpenMetrics(format: format, labels: labels)
        text.writeDaemon(status)
        if let lateness = status.lateness {
            text.write(lateness, "end_lateness", "How late countdowns ended whose deadline came while the daemon ran.")
        }
        for (name, value) in (status.queues ?? [:]).sorted(by: { $0.key < $1.key }) {
            text.gauge(snakeCase(name), "How much waits now: \(name) of GetStatus.", value)
        }
        for (name, value) in status.counters.sorted(by: { $0.key < $1.key }) {
            let help = "Since the start of the daemon: \(name) of GetStatus."
            if name.hasPrefix("most") {
                text.gauge(snakeCase(name), help, value)
            } else {
                text.family(snakeCase(name), "counter", help, [("_total", [:], "\(value)")])
            }
        }
        let limits = status.limits.sorted { $0.key < $1.key }
        text.family("limit", "gauge", "The limits.", limits.map { ("", ["limit": snakeCase($0.key)], "\($0.value)") })
        if let fleet = status.fleet { text.write(fleet) }
        return text.lines + (format == .openmetrics ? ["# EOF"] : [])
    }

    private mutating func writeDaemon(_ status: GetStatus.Reply) {
        family("info", "gauge", "The version of the daemon.", [("", ["version": status.version], "1")])
        gauge("start_time_seconds", "When the daemon started.", seconds: status.startedUSec)
        family(
            "countdowns",
            "gauge",
            "Countdowns that have not ended.",
            [("", ["state": "paused"], "\(status.paused)"), ("", ["state": "running"], "\(status.running)")]
        )
        gauge("watchers", "Watches of clients.", status.watchers)
        gauge("connections", "Connections of clients.", status.connections)
        gauge("queued_starts", "Calls of Start that wait for their turn.", status.queuedStarts ?? 0)
        gauge("revision", "The number of the last change.", status.revision)
        gauge("oldest_revision", "The oldest revision from which a watch can resume.", status.oldestRevision)
        gauge("storage_failing", "Whether changes cannot be stored.", status.storageFailure == nil ? 0 : 1)
    }

    private mutating func write(_ fleet: GetStatus.Fleet) {
        var labels: KeyValuePairs<String, String> = [:]
        if let engine = fleet.engine, let namespace = fleet.namespace {
            labels = ["engine": engine, "namespace": namespace]
        }
        family("fleet_info", "gauge", "The engine of the fleet.", [("", labels, "1")])
        family(
            "fleet_shard_state",
            "gauge",
            "1 for the state of the shard.",
            fleet.shards.enumerated().flatMap { shard, figures in
                GetStatus.ShardState.allCases.map { state in
                    ("", ["shard": "\(shard)", "state": state.rawValue], figures.state == state ? "1" : "0")
                }
            }
        )
        family(
            "fleet_lag_seconds",
            "gauge",
            "For how long changes of other machines may have been missing.",
            fleet.shards.enumerated().map { ("", ["shard": "\($0)"], Self.seconds($1.lagUSec)) }
        )
        if let lead = fleet.clockAheadUSec {
            gauge("fleet_clock_lead_seconds", "How far the engine's clock is ahead of the system clock.", seconds: lead)
        }
        if let error = fleet.clockErrorUSec {
            gauge("fleet_clock_error_seconds", "How far off the clock lead may be.", seconds: error)
        }
        write(fleet.roundTrip, "fleet_round_trip", "How long the engine took to answer proposals.")
    }

    private mutating func write(_ durations: GetStatus.Durations, _ name: String, _ help: String) {
        let bounds = (durations.atMost ?? [:]).compactMap { bound, count in Int64(bound).map { ($0, count) } }
        let buckets = bounds.sorted { $0.0 < $1.0 }.map { (Self.shortSeconds($0), $1) } + [("+Inf", durations.count)]
        family(
            "\(name)_seconds",
            "histogram",
            help,
            buckets.map { ("_bucket", ["le": $0], "\($1)") } + [
                ("_sum", [:], Self.seconds(durations.sumUSec)),
                ("_count", [:], "\(durations.count)"),
            ]
        )
        gauge(
            "\(name)_greatest_seconds",
            "The greatest of \(name)_seconds since the start of the daemon.",
            seconds: durations.greatestUSec
        )
    }

    private mutating func gauge(_ name: String, _ help: String, _ value: Int64) {
        family(name, "gauge", help, [("", [:], "\(value)")])
    }

    private mutating func gauge(_ name: String, _ help: String, seconds microseconds: Int64) {
        family(name, "gauge", help, [("", [:], Self.seconds(microseconds))])
    }

    /// Appends a family if it has samples. Its unit is the last word of its name.
    private mutating func family(
        _ name: String,
        _ type: String,
        _ help: String,
        _ samples: [(suffix: String, labels: KeyValuePairs<String, String>, value: String)]
    ) {
        guard !samples.isEmpty else { return }
        let name = Self.prefix + name
        let title = format == .prometheus && type == "counter" ? "\(name)_total" : name
        lines.append("# TYPE \(title) \(type)")
        for unit in ["seconds", "bytes"] where format == .openmetrics && name.hasSuffix("_\(unit)") {
            lines.append("# UNIT \(name) \(unit)")
        }
        lines.append("# HELP \(title) \(help)")
        for sample in samples {
            let labels = (labels + sample.labels.map { ($0.key, $0.value) })
                .map { "\($0)=\"\(Self.escape($1))\"" }.joined(separator: ",")
            lines.append("\(name)\(sample.suffix)\(labels.isEmpty ? "" : "{\(labels)}") \(sample.value)")
        }
    }

    private static func escape(_ text: String) -> String {
        PrintableText.escape(text, doublesBackslashes: false).flatMap { character in
            character == "\\" || character == "\"" ? ["\\", character] : [character]
        }.reduce(into: "") { $0.append($1) }
    }

    /// A time in microseconds, as a number of seconds.
    private static func seconds(_ microseconds: Int64) -> String {
        let (whole, part) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        return "\(microseconds < 0 ? "-" : "")\(whole).\(String(1_000_000 + part).dropFirst())"
    }

    /// A time as a number of seconds without zeros at its end, as other programs write bounds.
    private static func shortSeconds(_ microseconds: Int64) -> String {
        var text = seconds(microseconds)
        while text.hasSuffix("0"), !text.hasSuffix(".0") { text.removeLast() }
        return text
    }

    /// `wakeUps` as `wake_ups`. A character that a name may not have becomes `_`.
    private static func snakeCase(_ name: String) -> String {
        var result = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "A"..."Z": result += "_" + scalar.properties.lowercaseMapping
            case "a"..."z", "0"..."9": result.unicodeScalars.append(scalar)
            default: result += "_"
            }
        }
        return result
    }
}
