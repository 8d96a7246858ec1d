import Foundation
import TestSupport

/// What `make install` puts below a folder: the release, where `make build` has nothing to do, else what the tests were
/// built with.
struct Installation {
    private let tree: TemporaryDirectory

    init(in tree: TemporaryDirectory) {
        self.tree = tree
    }

    func make() throws {
        let built = try isReleased() ? "bin" : copyOfDebugBuild()
        try make(["install", "DESTDIR=\(tree.path)", "PREFIX=/usr/local", "BUILT=\(built)"])
    }

    private func isReleased() throws -> Bool {
        let run = try command("make", ["--question", "-C", BuiltProduct.packageDirectory.path, "build"])
        return run.exitCode == 0
    }

    private func make(_ arguments: [String]) throws {
        let run = try command("make", ["--silent", "-C", BuiltProduct.packageDirectory.path] + arguments)
        guard run.exitCode == 0 else { throw Machine.Unexpected(run: run, of: ["make"] + arguments) }
    }

    /// The executables with the libraries of Swift beside them, which may lie where the machine has something else.
    private func copyOfDebugBuild() throws -> String {
        let copy = tree.path(of: "built")
        let libraries = tree.path(of: "usr/local/bin")
        for folder in [copy, libraries] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        for name in ["countdownd", "countdownctl", "countdown-notify"] {
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
