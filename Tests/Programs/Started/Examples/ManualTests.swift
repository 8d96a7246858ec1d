import Foundation
import TestSupport
import Testing

@Suite("The manual pages")
struct ManualTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        let written = try run("manuals", directory.path)
        #expect(written.exitCode == 0 && written.standardError.isEmpty, "\(written.standardError)")
        // The directory of `make install`.
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
            let section = directory.path(of: "man\(name.suffix(1))")
            try FileManager.default.createDirectory(atPath: section, withIntermediateDirectories: true)
            try FileManager.default.moveItem(atPath: directory.path(of: name), toPath: "\(section)/\(name)")
        }
    }

    /// Runs a script of the package over the programs that were built and a folder of pages.
    private func run(_ script: String, _ pages: String) throws -> CommandRun {
        let built = try BuiltProduct.folder()
        return try RunningCommand(
            [built, pages],
            executable: BuiltProduct.source("scripts/\(script)"),
            environment: ["LANG": "C.UTF-8"]
        ).finish()
    }

    @Test(
        "mandoc and man accept the pages, and they name every option of the programs and every member of the interface"
    )
    func areValid() throws {
        let check = try run("check-manuals", directory.path)
        #expect(check.exitCode == 0 && check.standardError.isEmpty, "\(check.standardError)")
    }

    @Test("each systemd unit names a page that exists")
    func documentsUnits() throws {
        for unit in [
            "countdownd.service", "countdownd.socket", "countdown-notify.service", "countdown-hook@.service",
        ] {
            let text = try BuiltProduct.text(of: "systemd/\(unit)")
            let named = try #require(text.firstMatch(of: #/\nDocumentation=man:([a-z-]+)\(([0-9])\)\n/#))
            #expect(FileManager.default.fileExists(atPath: directory.path(of: "man\(named.2)/\(named.1).\(named.2)")))
        }
    }
}
