import Foundation
import TestSupport
import Testing

private let programs = ["dunst", "dunstctl", "Xvfb", "dbus-run-session", "curl", "python3", "ip", "nft"]
private let folders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]
private let missing = programs.filter { program in
    !folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
}
private let hasNamespaces =
    (try? RunningCommand(
        (geteuid() == 0 ? [] : ["--map-root-user"]) + ["--net", "--mount", "true"],
        executable: "/usr/bin/unshare"
    ).finish().exitCode) == 0

/// The recipes for a user's and the system's services are tried in `UndoServiceTests`.
@Suite(
    "Recipes of docs/temporarily.md with the real programs",
    .enabled(if: missing.isEmpty, "not installed: \(missing)"),
    .enabled(if: hasNamespaces, "users cannot have namespaces here")
)
struct UndoRecipeTests {
    /// What dunst, nft and a stand-in of Pi-hole's HTTP interface say before a change, during it and after its undo.
    private static let states = [
        "dnd": ["false", "true", "false"],
        "firewall": ["table inet old", "table inet new", "table inet old"],
        "pihole": [#"{"blocking": true}"#, #"{"blocking": false}"#, #"{"blocking": true}"#],
    ]

    @Test("a recipe changes something and its undo puts it back", arguments: states.keys.sorted())
    func recipe(_ name: String) throws {
        let words = try #require(try UndoRecipes.read()[name])
        let home = try TemporaryDirectory()
        let built = try BuiltProduct.folder()
        let folder = BuiltProduct.packageDirectory.appendingPathComponent("Tests/Programs/Started/Examples/Undo")
        let run = try RunningCommand(
            [name, words],
            executable: folder.appendingPathComponent("recipe").path,
            environment: [
                "HOME": home.path, "XDG_RUNTIME_DIR": home.path(of: "run"),
                "PATH": ([built] + folders).joined(separator: ":"),
            ]
        ).finish()
        #expect(run.exitCode == 0, "\(run.standardError)")
        #expect(run.standardOutput.split(separator: "\n").map(String.init) == Self.states[name])
    }
}
