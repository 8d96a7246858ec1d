import IPC
import JSONTree
import TestSupport
import Testing
import Varlink

@Suite("Clients from PyPI", .enabled(if: TestPython.isAvailable, "make acceptance installs the Python packages"))
struct OtherClientTests {
    @Test(
        "a countdown outlives a client of another kind, and is found again by it",
        arguments: ["return_by_varlink", "return_by_asyncvarlink"]
    )
    func comesBack(_ script: String) throws {
        let daemon = try DaemonProcess()
        let script = BuiltProduct.source("Tests/Programs/Started/Examples/Clients/\(script).py")
        let run = try RunningCommand([script, daemon.socketPath], executable: TestPython.path()).finish()
        #expect(run.exitCode == 0, "\(run.standardError)")
        let told = try run.standardOutput.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        let starts = try told.compactMap { $0["start"] }.map { try Start.Reply(json: $0.text) }
        #expect(starts.map(\.outcome) == [.started, .attached, .restarted, .started])
        let whole: [Int64] = [.seconds(60), .seconds(60), .milliseconds(100), .seconds(60)]
        #expect(starts.map(\.countdown.durationUSec) == whole)
        #expect(zip(starts, whole).map { $0.countdown.remainingUSec == $1 } == [true, false, true, true])
        let events = try told.compactMap { $0["event"] }.map { try Event(json: $0.text) }
        #expect(events.map(\.type).filter { $0 != .synced } == [.attached, .finished])
        #expect(events.last { $0.type == .finished }?.remainingUSec == 0)
        let waited = try Wait.Reply(json: try #require(told.compactMap { $0["waited"] }.first).text)
        #expect(waited.countdown == events.last { $0.type == .finished }?.countdown)
        let error = try #require(told.last)
        #expect(error["error"]?.string == "io.countdownd.NoSuchCountdown")
        #expect(error["parameters"]?["key"]?.string == "coffee")
    }

    @Test("the parser of Prometheus' client for Python takes the daemon's figures")
    func parsesMetrics() throws {
        let families = try families("openmetrics")
        #expect(families.contains("countdownd_end_lateness_seconds histogram 9"))
        #expect(families.contains("countdownd_calls counter 1"))
        #expect(families.count > 20)
    }

    /// What the parser finds in the figures of a daemon that has had one end.
    private func families(_ format: String) throws -> [Substring] {
        let daemon = try DaemonProcess()
        let typist = Typist(daemon)
        _ = try typist.type("start egg 5ms --wait")
        let script = BuiltProduct.source("Tests/Programs/Started/Examples/Clients/parse_openmetrics.py")
        let run = try typist.type(
            shell: "countdownctl status --format \(format) | '\(TestPython.path())' '\(script)' \(format)"
        )
        #expect(run.exitCode == 0, "\(run.standardError)")
        try daemon.terminate()
        return run.standardOutput.split(separator: "\n")
    }

    @Test("the parser of a node exporter's textfile collector keeps the types, and the alerts name figures that exist")
    func keepsTypes() throws {
        let families = try families("prometheus").map { $0.split(separator: " ") }
        #expect(families.allSatisfy { ["gauge", "counter", "histogram"].contains($0[1]) })
        let text = try BuiltProduct.text(of: "examples/prometheus/alerts.yml")
        let names = Set(text.matches(of: /countdownd_\w+/).map(\.output)).filter { !$0.hasPrefix("countdownd_fleet_") }
        #expect(names.count > 6)
        for name in names {
            #expect(families.contains { name.hasPrefix($0[0]) && $0[0] != "countdownd" }, "\(name)")
        }
    }
}
