import Foundation
import TestSupport
import Testing

private let isThere = FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")

/// A unit may be hardened more, and these numbers then get smaller; they never get larger.
@Suite("The exposure of the units according to systemd-analyze", .enabled(if: isThere, "there is no systemd-analyze"))
struct ExposureTests {
    private let units: TemporaryDirectory

    init() throws {
        units = try TemporaryDirectory()
        for (unit, name) in [
            ("countdownd.service", "countdownd.service"), ("countdown-notify.service", "countdown-notify.service"),
            ("system/countdownd@.service", "countdownd@a.service"),
            ("system/countdownd-shared@.service", "countdownd-shared@a.service"),
            ("system/countdownd-redis@.service", "countdownd-redis@a.service"),
        ] {
            try units.write(BuiltProduct.text(of: "systemd/\(unit)"), to: name)
        }
    }

    private func exposure(of unit: String, _ options: String...) throws -> Double {
        let run = try RunningCommand(
            ["security", "--offline=true", "--no-pager"] + options + [units.path(of: unit)],
            executable: "/usr/bin/systemd-analyze",
            environment: ["XDG_RUNTIME_DIR": units.path]
        ).finish()
        let level = run.standardOutput.firstMatch(of: /Overall exposure level for [^:]*: ([\d.]+)/)
        return try #require(level.flatMap { Double($0.1) }, "\(run)")
    }

    @Test(
        "with its first sandbox layer the user service is at most 6.1, with the second at most 1.5",
        arguments: ["countdownd.service", "countdown-notify.service"]
    )
    func user(_ unit: String) throws {
        #expect(try exposure(of: unit, "--user") <= 6.1)
        try units.makeDirectory("\(unit).d")
        let layer = try BuiltProduct.text(of: "systemd/countdownd.service.d/50-sandbox.conf")
        try units.write(layer, to: "\(unit).d/50-sandbox.conf")
        #expect(try exposure(of: unit, "--user") <= 1.5)
    }

    @Test(
        "the system services' is below 1.0, and that of the bridge, which has a network, is at most 1.2",
        arguments: [
            ("countdownd@a.service", 0.99), ("countdownd-shared@a.service", 0.99), ("countdownd-redis@a.service", 1.2),
        ]
    )
    func system(_ unit: String, _ most: Double) throws {
        #expect(try exposure(of: unit) <= most)
    }
}
