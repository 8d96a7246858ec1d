import Foundation
import TestSupport
import Testing

/// The version, which Sources/IPC/Version.swift names. The daemon, its clients and their packages are released together.
@Suite("The version")
struct VersionTests {
    /// The first match of the pattern's group in a file.
    private static func match(_ pattern: String, in path: String) throws -> String {
        let regex = try Regex<(Substring, Substring)>(pattern).anchorsMatchLineEndings()
        let match = try BuiltProduct.text(of: path).firstMatch(of: regex)
        return String(try #require(match, "\(path) has no \(pattern)").output.1)
    }

    /// Every place that repeats it, because its format cannot refer to another file.
    static let places = [
        ("FleetBridge/Sources/FleetBridge/BridgeOptions.swift", #"static let current = "(.*)""#),
        ("CHANGELOG.md", #"^## \[([0-9.]+)\] - \d{4}-\d\d-\d\d$"#),
        ("clients/node/package.json", #"^  "version": "(.*)",$"#),
        ("clients/python/src/countdownd/__init__.py", #"^__version__ = "(.*)"$"#),
        ("debian/changelog", #"^countdownd \((.*)-\d+\)"#),
        ("packaging/arch/PKGBUILD", #"^pkgver=(.*)$"#),
        ("packaging/fedora/countdownd.spec", #"^Version: +(.*)$"#),
        ("packaging/nix/package.nix", #"^  version = "(.*)";$"#),
    ]

    @Test("each client, package and recipe names the version of the daemon", arguments: places)
    func agreement(path: String, pattern: String) throws {
        let version = try Self.match(#"static let current = "(.*)""#, in: "Sources/IPC/Version.swift")
        #expect(try Self.match(pattern, in: path) == version)
    }

    @Test("the manifests pin the exact version of each Swift package, because lock files are not kept")
    func pins() throws {
        for path in ["Package.swift", "FleetBridge/Package.swift"] {
            let dependencies = try BuiltProduct.text(of: path).matches(of: /\.package\(url: "(.*)", (exact)?/)
            #expect(!dependencies.isEmpty)
            #expect(Set(dependencies.filter { $0.2 != nil }.map(\.1)) == Set(dependencies.map(\.1)), "\(path)")
        }
        #expect(try BuiltProduct.text(of: "Makefile").contains("\nexport COUNTDOWND_EXACT := 1\n"))
        #expect(try BuiltProduct.text(of: "scripts/setup").contains("\nexport COUNTDOWND_EXACT=1\n"))
    }
}
