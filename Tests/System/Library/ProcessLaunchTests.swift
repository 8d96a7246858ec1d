import Foundation
import System
import TestSupport
import Testing

@Suite("Starting programs")
struct ProcessLaunchTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// An executable file.
    private func file(_ text: String, named name: String = "job") throws -> String {
        let path = try directory.write(text, to: name)
        try #require(unsafe chmod(path, 0o700) == 0)
        return path
    }

    /// How a program ends, and its output.
    private func run(_ words: [String]) throws -> (ProcessEnding, String) {
        let output = directory.path(of: "output")
        let descriptor = unsafe open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        var launch = ProcessLaunch(words: words, output: descriptor)
        launch.errors = descriptor
        let ending = try launch.start().awaitEnding()
        return (ending, try String(contentsOfFile: output, encoding: .utf8))
    }

    @Test(
        "an executable file that the kernel does not know is a script for sh, as with execvp(3)",
        arguments: [
            ("printf '%s.' \"$@\"; exit 3", 3, "a b..é."), ("# a comment\necho \"$2$3\"\n", 0, "é\n"), ("", 0, ""),
            ("#!/bin/cat\n", 0, nil), ("\nexit 5\n", 5, ""),
        ] as [(String, Int32, String?)]
    )
    func runsScripts(_ text: String, _ code: Int32, _ output: String?) throws {
        let path = try file(text, named: "-job")
        let arguments = output == nil ? [] : ["a b", "", "é"]
        let (ending, printed) = try run([path] + arguments)
        #expect(ending == .exited(code: code))
        #expect(printed == output ?? text)
    }

    @Test("a file that must not be executed, a directory and a missing file are refused, and no shell reads them")
    func refuses() throws {
        let path = try file("echo ran")
        try #require(unsafe chmod(path, 0o600) == 0)
        for (name, code) in [(path, EACCES), (directory.path, EACCES), ("\(path)/x", ENOTDIR), ("\(path)x", ENOENT)] {
            let failure = #expect(throws: ProcessLaunch.NotStarted.self) { try ProcessLaunch(words: [name]).start() }
            #expect(failure?.errno == code)
        }
        #expect(throws: ProcessLaunch.NotStarted.self) { try ProcessLaunch(words: []).start() }
    }
}
