import Foundation
import TestSupport
import Testing

/// What `make release` refuses before it builds; scripts/check-binaries and scripts/check-recipes test the rest.
@Suite("A release")
struct ReleaseTests {
    private let repository: TemporaryDirectory

    /// A repository of one commit with the scripts, the version and a changelog without a date.
    init() throws {
        repository = try TemporaryDirectory()
        let copied = [
            "scripts/release", "scripts/setup", "scripts/version", "scripts/source-date", "Sources/IPC/Version.swift",
        ]
        try run(
            """
            cp --parents \(copied.joined(separator: " ")) '\(repository.path)'
            cd '\(repository.path)'
            echo '## [Unreleased]' > CHANGELOG.md
            git init --quiet
            git add .
            git -c user.name=name -c user.email=name@example.org commit --quiet --message=commit
            """
        )
    }

    @discardableResult
    private func run(_ script: String) throws -> CommandRun {
        let folder = BuiltProduct.packageDirectory.path
        return try RunningCommand(["-c", "set -e; cd '\(folder)'; \(script)"], executable: "/bin/sh").finish()
    }

    @Test("uncommitted changes are named, and nothing is built")
    func uncommitted() throws {
        try repository.write("", to: "left-over")
        let release = try run("'\(repository.path)/scripts/release'")
        #expect(release.exitCode == 1)
        #expect(release.standardError.hasPrefix("release: a release is made from a commit"))
        #expect(release.standardError.hasSuffix("?? left-over\n"))
        #expect(!FileManager.default.fileExists(atPath: repository.path(of: "dist")))
    }

    @Test("a version without a dated heading in CHANGELOG.md is refused")
    func undated() throws {
        let release = try run("'\(repository.path)/scripts/release'")
        #expect(release.exitCode == 1)
        #expect(release.standardError.hasPrefix("release: CHANGELOG.md has no dated heading for "))
    }
}
