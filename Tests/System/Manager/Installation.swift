import Foundation
import TestSupport

/// The files that `make install` puts below a folder: from the release build if it is up to date, else from the build
/// of the tests.
struct Installation {
    private let tree: TemporaryDirectory

    init(in tree: TemporaryDirectory) {
        self.tree = tree
    }

    /// Whether the bridge of a fleet is there, which `make build-fleet` makes. It is installed, too, then.
    static let hasBridge = (try? BuiltProduct.path(of: "countdownd-redis")) != nil

    func make() throws {
        let built = try !Self.hasBridge && isReleased() ? "bin" : copyOfBuild()
        let targets = Self.hasBridge ? ["install", "install-fleet"] : ["install"]
        try make(targets + ["DESTDIR=\(tree.path)", "PREFIX=/usr/local", "BUILT=\(built)"])
    }

    private func isReleased() throws -> Bool {
        let run = try command("make", ["--question", "-C", BuiltProduct.packageDirectory.path, "build"])
        return run.exitCode == 0
    }

    private func make(_ arguments: [String]) throws {
        let run = try command("make", ["--silent", "-C", BuiltProduct.packageDirectory.path] + arguments)
        guard run.exitCode == 0 else { throw Machine.Unexpected(run: run, of: ["make"] + arguments) }
    }

    /// The executables, with Swift's libraries beside them if the machine may lack them.
    private func copyOfBuild() throws -> String {
        let copy = tree.path(of: "built")
        let libraries = tree.path(of: "usr/local/bin")
        for folder in [copy, libraries] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        let bridge = Self.hasBridge ? ["countdownd-redis"] : []
        for name in ["countdownd", "countdownctl", "countdown-notify"] + bridge {
            let path = try BuiltProduct.path(of: name)
            try FileManager.default.copyItem(atPath: path, toPath: "\(copy)/\(name)")
            for library in try command("ldd", [path]).standardOutput.split(separator: "\n") {
                let words = library.split(separator: " ")
                guard words.count > 2, words[2].contains("/swift/") else { continue }
                _ = try command("cp", ["-u", String(words[2]), libraries])
            }
        }
        return copy
    }

    private func command(_ name: String, _ arguments: [String]) throws -> CommandRun {
        try RunningCommand([name] + arguments, executable: "/usr/bin/env").finish()
    }
}
