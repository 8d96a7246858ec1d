import IPC
import System
import TestSupport
import Testing
import Varlink

@testable import countdownctl

@Suite("The status as text")
struct StatusTests {
    private static var none: GetStatus.Durations {
        GetStatus.Durations(count: 0, sumUSec: 0, p50USec: 0, p99USec: 0, greatestUSec: 0)
    }

    /// A member of a fleet; without an engine, one that has reached nothing yet.
    private static func fleet(
        _ shard: GetStatus.Shard,
        engine: String? = nil,
        roundTrip: GetStatus.Durations = StatusTests.none
    ) -> GetStatus.Fleet {
        GetStatus.Fleet(
            engine: engine,
            namespace: engine.map { _ in "mail" },
            shards: [shard],
            clockAheadUSec: engine.map { _ in -1_500 },
            clockErrorUSec: engine.map { _ in 90 },
            roundTrip: roundTrip
        )
    }

    private func status(
        version: String = "1.0.0",
        fleet: GetStatus.Fleet? = nil,
        lateness: GetStatus.Durations? = GetStatus.Durations(
            count: 1_234,
            sumUSec: 99_000,
            p50USec: 60,
            p99USec: 210,
            greatestUSec: 3_100,
            atMost: ["2500000": 1_234, "100": 900, "1000": 1_230]
        ),
        storageFailure: String? = nil
    ) -> GetStatus.Reply {
        GetStatus.Reply(
            version: version,
            startedUSec: noon - 3_600_000_000,
            running: 3,
            paused: 1,
            watchers: 2,
            connections: 1,
            revision: 9,
            oldestRevision: 4,
            limits: ["countdowns": 4_000_000],
            counters: ["calls": 7, "mostUnsentBytes": 5],
            queuedStarts: 1,
            fleet: fleet,
            lateness: lateness,
            queues: ["unsentBytes": 6],
            storageFailure: storageFailure
        )
    }

    private func lines(of status: GetStatus.Reply, lingers: Bool? = nil, all: Bool = false) -> [String] {
        let clock = ClockText(zone: TestZone.utc, now: noon)
        return StatusDetails(status: status, clientVersion: "1.0.0", lingers: lingers, all: all, clock: clock).lines
    }

    @Test("is five lines if nothing is wrong")
    func fiveLines() {
        #expect(
            lines(of: status(), lingers: true) == [
                "countdownd 1.0.0, since 11:00:00 (1h)",
                "Countdowns: 3 running, 1 paused, 1 start queued",
                "   Clients: 1 connection, 2 watchers",
                "  Lateness: half of 1234 ends within 60us, 99% within 210us, the latest 3.1ms",
                "   Storage: changes are stored",
            ]
        )
        #expect(lines(of: status(lateness: Self.none))[3] == "  Lateness: no countdown has ended yet")
    }

    @Test("says what is wrong: another version, a failing store, no lingering")
    func trouble() {
        let lines = lines(of: status(version: "0.9\u{7}", storageFailure: "disk full\u{7}"), lingers: false)
        #expect(lines[0].hasPrefix("countdownd 0.9\\u{7}, "))
        #expect(
            lines[1] == "   Version: differs from countdownctl 1.0.0; "
                + "`systemctl --user restart countdownd` starts the installed version"
        )
        #expect(lines.contains("   Storage: changes cannot be stored: disk full\\u{7}"))
        #expect(lines.last?.hasPrefix("   Lingers: no, ") == true)
        #expect(lines.last?.contains("`loginctl enable-linger`") == true)
    }

    @Test("has a line for notifications on a desktop, and a note if a countdown cannot wake the machine")
    func notifications() {
        let clock = ClockText(zone: TestZone.utc, now: noon)
        var details = StatusDetails(status: status(), clientVersion: "1", lingers: nil, all: false, clock: clock)
        details.notifier = NotifierStatus(isEnabled: true, state: "shown by dunst 1.9; rings")
        #expect(details.lines.contains("  Notifier: shown by dunst 1.9; rings"))
        for (status, metadata, isNoted) in [
            (details.notifier, ["wake": "yes"], true), (details.notifier, ["wake": "no"], false),
            (NotifierStatus(isEnabled: true, state: "shown", wakes: true), ["wake": "yes"], false),
            (nil, ["wake": "yes"], false),
        ] as [(NotifierStatus?, TextMap<String>, Bool)] {
            #expect((NotifierStatus.wakeNote(for: metadata, status) != nil) == isNoted)
        }
    }

    @Test("with --all, has lingering, the revision, queues, counters and limits")
    func all() {
        #expect(
            lines(of: status(), lingers: true, all: true).dropFirst(5) == [
                "   Lingers: yes, the daemon runs without a session",
                "  Revision: 9, history since 4",
                "    Queues:",
                "            unsentBytes  6",
                "  Counters:",
                "            calls            7",
                "            mostUnsentBytes  5",
                "    Limits:",
                "            countdowns  4000000",
            ]
        )
        #expect(!lines(of: status(), all: true).contains { $0.contains("Lingers") })
    }

    @Test("the status of a member of a fleet says how it follows the others, and since when it does not")
    func showsFleet() {
        let answers = GetStatus.Durations(count: 12, sumUSec: 9_000, p50USec: 310, p99USec: 2_000, greatestUSec: 2_100)
        let shard = GetStatus.Shard(state: .live, sinceUSec: noon - 7_200_000_000, lagUSec: 0)
        var fleet = Self.fleet(shard, engine: "Redis 7.0.15", roundTrip: answers)
        func shown() -> [String] {
            lines(of: status(fleet: fleet))
                .filter { $0.hasPrefix("     Fleet: ") || $0.hasPrefix("    Engine: ") }
        }
        #expect(
            shown() == [
                "     Fleet: mail on Redis 7.0.15, live since 10:00:00 (2h)",
                "    Engine: half of 12 answers within 310us, 99% within 2ms; "
                    + "its clock is 1.5ms behind, at most 90us off that",
            ]
        )
        fleet.shards[0].lagUSec = 20_000
        #expect(shown()[0].hasSuffix(" (2h), 20ms behind"))
        let refusing = lines(of: status(fleet: fleet, storageFailure: "it is full"))
        #expect(refusing.contains("   Storage: changes cannot be stored: it is full"))
        #expect(refusing.contains { $0.hasSuffix(" (2h), 20ms behind, and changes are refused") })
        fleet.shards = [GetStatus.Shard(state: .lost, sinceUSec: noon, lagUSec: 9, reason: "cut\u{7}")]
        #expect(shown()[0] == "     Fleet: mail on Redis 7.0.15, lost since 12:00:00 (0s): cut\\u{7}")
        fleet = Self.fleet(GetStatus.Shard(state: .connecting, sinceUSec: noon, lagUSec: 9, reason: "no bridge"))
        #expect(shown() == ["     Fleet: connecting since 12:00:00 (0s): no bridge"])
    }

    @Test("in OpenMetrics has every figure, with its type and in the base unit")
    func metrics() throws {
        let times = GetStatus.Durations(count: 2, sumUSec: 1_500_000, p50USec: 9, p99USec: 1_499_991, greatestUSec: 10)
        let shard = GetStatus.Shard(state: .lost, sinceUSec: noon, lagUSec: 20_000, reason: "cut")
        let fleet = Self.fleet(shard, engine: "Redis \"7\"\\\n", roundTrip: times)
        let metrics = OpenMetrics.lines(of: status(fleet: fleet, storageFailure: "disk full"), in: .openmetrics)
        try OpenMetricsCheck().check(metrics)
        for line in [
            "# TYPE countdownd_calls counter",
            "countdownd_calls_total 7",
            "# TYPE countdownd_most_unsent_bytes gauge",
            "# UNIT countdownd_most_unsent_bytes bytes",
            "countdownd_most_unsent_bytes 5",
            "countdownd_unsent_bytes 6",
            #"countdownd_countdowns{state="running"} 3"#,
            "countdownd_start_time_seconds 1772362800.000000",
            "countdownd_storage_failing 1",
            #"countdownd_limit{limit="countdowns"} 4000000"#,
            "# TYPE countdownd_end_lateness_seconds histogram",
            "countdownd_end_lateness_seconds_sum 0.099000",
            "countdownd_end_lateness_seconds_count 1234",
            "countdownd_end_lateness_greatest_seconds 0.003100",
            #"countdownd_fleet_info{engine="Redis \"7\"\\\\n",namespace="mail"} 1"#,
            #"countdownd_fleet_shard_state{shard="0",state="lost"} 1"#,
            #"countdownd_fleet_shard_state{shard="0",state="live"} 0"#,
            #"countdownd_fleet_lag_seconds{shard="0"} 0.020000"#,
            "countdownd_fleet_clock_lead_seconds -0.001500",
            "countdownd_fleet_round_trip_seconds_sum 1.500000",
        ] {
            #expect(metrics.contains(line), "\(line)")
        }
        let types = Set(metrics.filter { $0.hasPrefix("# TYPE") }.compactMap { $0.split(separator: " ").last })
        #expect(types == ["counter", "gauge", "histogram"])
        #expect(
            metrics.filter { $0.hasPrefix("countdownd_end_lateness_seconds_bucket") } == [
                #"countdownd_end_lateness_seconds_bucket{le="0.0001"} 900"#,
                #"countdownd_end_lateness_seconds_bucket{le="0.001"} 1230"#,
                #"countdownd_end_lateness_seconds_bucket{le="2.5"} 1234"#,
                #"countdownd_end_lateness_seconds_bucket{le="+Inf"} 1234"#,
            ]
        )
    }

    @Test("in the older format of Prometheus, a counter's type has the name of its samples, and samples have labels")
    func olderMetrics() {
        let metrics = OpenMetrics.lines(of: status(), in: .prometheus, labels: [("socket", "/run/\"s\"")])
        for line in [
            "# TYPE countdownd_calls_total counter",
            "# HELP countdownd_calls_total Since the start of the daemon: calls of GetStatus.",
            #"countdownd_calls_total{socket="/run/\"s\""} 7"#,
            "# TYPE countdownd_end_lateness_seconds histogram",
            #"countdownd_end_lateness_seconds_bucket{socket="/run/\"s\"",le="+Inf"} 1234"#,
            #"countdownd_limit{socket="/run/\"s\"",limit="countdowns"} 4000000"#,
        ] {
            #expect(metrics.contains(line), "\(line)")
        }
        #expect(!metrics.contains { $0.hasPrefix("# UNIT") || $0.hasPrefix("# EOF") })
    }

    @Test("in OpenMetrics is valid if nothing is known of the fleet, and with names of a newer daemon")
    func newerMetrics() throws {
        let shard = GetStatus.Shard(state: .connecting, sinceUSec: noon, lagUSec: 0)
        var newer = status(version: "2\"\u{7}", fleet: Self.fleet(shard))
        newer.counters["odd name é"] = 1
        let metrics = OpenMetrics.lines(of: newer, in: .openmetrics)
        try OpenMetricsCheck().check(metrics)
        #expect(metrics.contains("countdownd_odd_name___total 1"))
        #expect(metrics.contains(#"countdownd_info{version="2\"\\u{7}"} 1"#))
    }
}
