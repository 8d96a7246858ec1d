import Foundation
import IPC
import JSONTree
import TestSupport
import Testing
import Varlink

/// The programs in examples/ that follow a countdown, which are the first that a stranger copies.
@Suite("Examples in other languages")
struct ExamplesTests {
    /// A program that takes a key and a duration in seconds.
    enum Example: String, CaseIterable {
        case python, asyncio, swift, c, plainC

        /// The examples that can run here. The one in C needs a libsystemd with sd-varlink.
        static let available = allCases.filter { (try? $0.command()) != nil }

        /// Those with a client that has `follow`, which say so if nobody knows how the countdown ended.
        static let followers = available.filter { [.python, .asyncio, .swift].contains($0) }

        /// The words before its arguments.
        func command() throws -> [String] {
            switch self {
            case .python: ["/usr/bin/python3", Example.source("python/countdown.py")]
            case .asyncio: ["/usr/bin/python3", Example.source("python/countdown_async.py")]
            case .swift: [try Example.compiled("swift/debug/countdown")]
            case .c: [try Example.compiled("countdown-c")]
            case .plainC: [try Example.compiled("countdown-plain-c")]
            }
        }

        static func source(_ path: String) -> String {
            BuiltProduct.source("examples/\(path)")
        }

        /// An executable that scripts/test-examples builds.
        static func compiled(_ path: String) throws -> String {
            let path = BuiltProduct.source(".build/test-examples/\(path)")
            guard FileManager.default.isExecutableFile(atPath: path) else { throw Missing(path: path) }
            return path
        }
    }

    struct Missing: Error, CustomStringConvertible {
        let path: String

        var description: String { "\(path) does not exist: run make acceptance" }
    }

    private let first: DaemonProcess

    init() throws { first = try DaemonProcess() }

    private func follow(_ command: [String], environment: [String: String] = [:]) throws -> RunningCommand {
        try RunningCommand(
            Array(command.dropFirst()),
            executable: command[0],
            environment: [
                "COUNTDOWND_SOCKET": first.socketPath,
                "PYTHONPATH": BuiltProduct.source("clients/python/src"),
                "PYTHONDONTWRITEBYTECODE": "1",
            ].merging(environment) { _, given in given }
        )
    }

    /// The first word of the program's next line about the countdown that is not a tick.
    private func told(by program: RunningCommand) throws -> String? {
        while let line = try program.line() {
            let words = line.drop { $0 != " " }.dropFirst().split(separator: ",")
            if words.first != "running" { return words.first.map(String.init) }
        }
        return nil
    }

    @Test(
        "a countdown is started, found running and followed to its end, though the daemon is killed meanwhile",
        arguments: Example.available
    )
    func follows(example: Example) throws {
        let command = try example.command() + ["tea", "3600"]
        let starter = try follow(command)
        #expect(try told(by: starter) == "started")
        let finder = try follow(command)
        #expect(try told(by: finder) == "attached")
        try first.kill()
        let second = try DaemonProcess(in: first.directory)
        _ = try Caller(of: second).call(Finish(key: "tea"))
        for program in [starter, finder] {
            var last = try told(by: program)
            while last == "attached" { last = try told(by: program) }  // the daemon was back before the end
            #expect(last == "finished")
            let run = try program.finish()
            #expect(run.exitCode == 0, "\(run.standardError)")
        }
    }

    @Test(
        "the program of the page of everyday tasks in Swift does them",
        .enabled(if: (try? Example.compiled("swift/debug/everyday")) != nil, "make acceptance compiles it")
    )
    func everydayTasks() throws {
        let programs = try BuiltProduct.folder()
        let program = try follow(
            ["/usr/bin/stdbuf", "-oL", try Example.compiled("swift/debug/everyday")],
            environment: ["PATH": "\(programs):/usr/bin:/bin"]
        )
        #expect(try program.line() == "attempt 1: a code is sent")
        #expect(try program.line()?.hasPrefix("attempt 2: login/138 again in 5") == true)
        for attempt in 1...3 { #expect(try program.line() == "attempt \(attempt): sent") }
        #expect(try program.line() == "attempt 4: again in 19 min")
        #expect(try program.line() == "tea is finished")
        #expect(try program.line() == "synced ")
        _ = try Caller(of: first).call(Start(key: "eggs/1", durationUSec: .seconds(3600)))
        #expect(try program.line() == "started eggs/1")
        try first.kill()
        let second = try DaemonProcess(in: first.directory)
        _ = try Caller(of: second).call(Finish(key: "eggs/1"))
        #expect(try program.line() == "the daemon is away")
        var line = try program.line()
        while line == "synced " { line = try program.line() }
        #expect(line == "finished eggs/1")
        #expect(try program.line() == "after a minute, it is finished")
        #expect(try program.finish().exitCode == 0)
    }

    @Test("the page of everyday tasks has the program unchanged")
    func everydayPage() throws {
        let page = try BuiltProduct.text(of: "Sources/IPC/IPC.docc/Everyday-tasks.md")
        let parts = page.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        let program = try BuiltProduct.text(of: "examples/swift/Sources/everyday/main.swift")
        #expect(program == parts.joined(separator: "\n"))
    }

    @Test("the example for the shell refuses a duration that is not in seconds", arguments: ["1.5m", "", "1e9", "-1"])
    func refusesSeconds(_ seconds: String) throws {
        let run = try follow([Example.source("shell/countdown.sh"), "tea", seconds == "" ? " " : seconds]).finish()
        #expect(run.exitCode == 64)
        #expect(run.standardError.hasPrefix("countdown.sh: invalid seconds '"))
    }

    @Test(
        "if the daemon has lost its store, the program begins again",
        arguments: Example.available.filter { !Example.followers.contains($0) }
    )
    func beginsAgain(example: Example) throws {
        let program = try follow(example.command() + ["tea", "3600"])
        #expect(try told(by: program) == "started")
        try first.terminate()
        try FileManager.default.removeItem(atPath: first.stateDirectory)
        let second = try DaemonProcess(in: first.directory)
        #expect(try told(by: program) == "started")
        _ = try Caller(of: second).call(Finish(key: "tea"))
        #expect(try told(by: program) == "finished")
        #expect(try program.finish().exitCode == 0)
    }

    @Test("if the daemon has lost its store, the program says that the countdown is gone", arguments: Example.followers)
    func isGone(example: Example) throws {
        let program = try follow(example.command() + ["tea", "3600"])
        #expect(try told(by: program) == "started")
        try first.terminate()
        try FileManager.default.removeItem(atPath: first.stateDirectory)
        let second = try DaemonProcess(in: first.directory)
        defer { withExtendedLifetime(second) {} }
        #expect(try told(by: program) == "gone")
        #expect(try program.finish().exitCode == 0)
    }

    @Test("the example for the shell starts a countdown or finds it running, and follows it through a kill to its end")
    func shell() throws {
        let script = [Example.source("shell/countdown.sh"), "tea", "3600"]
        let path = ["PATH": "\(try BuiltProduct.folder()):/usr/bin:/bin"]
        let starter = try follow(script, environment: path)
        #expect(try starter.line()?.hasPrefix("tea: started, ") == true)
        let finder = try follow(script, environment: path)
        #expect(try finder.line()?.hasPrefix("tea: running, ") == true)
        try first.kill()
        let second = try DaemonProcess(in: first.directory)
        _ = try Caller(of: second).call(Finish(key: "tea"))
        for program in [starter, finder] {
            let run = try program.finish()
            #expect(run.standardOutput.contains("tea: finished at ") && run.exitCode == 0, "\(run.standardError)")
        }
    }

    @Test(
        "if another client cancels the countdown, the program reports it",
        arguments: Example.available.filter { $0 != .c }
    )
    func cancelled(example: Example) throws {
        let program = try follow(example.command() + ["tea", "3600"])
        #expect(try told(by: program) == "started")
        _ = try Caller(of: first).call(Cancel(key: "tea"))
        #expect(try told(by: program) == "cancelled")
        #expect(try program.finish().exitCode == 0)
    }

    @Test(
        "the example in plain C reports an error of the daemon, quotes the key, and waits for a daemon that is not there yet",
        .enabled(if: (try? Example.plainC.command()) != nil, "make acceptance compiles it")
    )
    func plainC() throws {
        let command = try Example.plainC.command()
        let refused = try follow(command + [String(repeating: "k", count: 256)]).finish()
        #expect(refused.standardError == "\"org.varlink.service.InvalidParameter\"\n" && refused.exitCode == 1)
        let key = #"a "quoted\ key"#
        try first.terminate()
        let program = try follow(command + [key, "3600"])
        let second = try DaemonProcess(in: first.directory)
        #expect(try program.line() == "\(key): started, 3600 s left")
        _ = try Caller(of: second).call(Finish(key: key))
        #expect(try program.line() == "\(key): finished")
    }

    @Test("ticks are printed as they arrive", arguments: Example.available.filter { ![.c, .plainC].contains($0) })
    func ticks(example: Example) throws {
        let program = try follow(example.command() + ["tea", "3600"])
        #expect(try program.line() == "tea: started, 3600 s left")
        #expect(try program.line()?.hasPrefix("tea: running, 35") == true)
    }

    /// Runs a shell script with countdownctl, and with programs that are shell scripts too, in PATH.
    private func run(_ script: String, _ arguments: [String] = [], with programs: [String: String]) throws -> CommandRun
    {
        let folder = try TemporaryDirectory()
        for (name, text) in programs { try folder.write(program: text, to: name) }
        try FileManager.default.createSymbolicLink(
            atPath: folder.path(of: "countdownctl"),
            withDestinationPath: BuiltProduct.path(of: "countdownctl")
        )
        let path = "\(folder.path):/usr/bin:/bin"
        return try follow(["/bin/bash", "-c", script, "bash"] + arguments, environment: ["PATH": path]).finish()
    }

    @Test("of each line for cron the job runs once, and nothing is printed while it is not due")
    func cron() throws {
        let lines = try BuiltProduct.text(of: "examples/shell/crontab").split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
        // Where `make install` puts countdownctl, besides the folders of cron's own PATH.
        #expect(lines.first == "PATH=/usr/local/bin:/usr/bin:/bin")
        #expect(lines.count == 4)
        for line in lines.dropFirst() {
            let command = line.split(separator: " ", maxSplits: 5)[5].trimmingPrefix(" ")
            let job = try #require(command.split(separator: " ").last)
            let ran = try run(String(command), with: [String(job): "echo ran"])
            #expect(ran.standardOutput == "ran\n" && ran.standardError.isEmpty && ran.exitCode == 0)
            let again = try run(String(command), with: [String(job): "echo ran"])
            #expect(again.standardOutput == (line.contains("--wait") ? "ran\n" : "") && again.exitCode == 0)
        }
    }

    @Test("three codes are sent at once, then the time until the next one is printed; a failure does not count")
    func codes() throws {
        let script = "exec '\(Example.source("shell/send-code.sh"))' \"$@\""
        let failed = try run(script, ["138"], with: ["send-code": "exit 3"])
        #expect(failed.exitCode == 3)
        for _ in 0..<3 {
            let sent = try run(script, ["138"], with: ["send-code": "echo sent to $1"])
            #expect(sent.standardOutput == "sent to 138\n" && sent.exitCode == 0)
        }
        let refused = try run(script, ["138"], with: ["send-code": "echo sent"])
        #expect(refused.exitCode == 75)
        let seconds = try #require(Int(refused.standardOutput.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect((1...200).contains(seconds))
        #expect(try run(script, ["139"], with: ["send-code": "echo sent"]).exitCode == 0)
    }

    /// The daemon's directory for programs that know only the runtime directory.
    private func runtimeDirectory() throws -> [String: String] {
        let link = try first.directory.makeDirectory("countdownd") + "/io.countdownd"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: first.socketPath)
        return ["XDG_RUNTIME_DIR": first.directory.path]
    }

    @Test("the lines for a shell in the README start a countdown")
    func byHand() throws {
        let readme = try BuiltProduct.text(of: "README.md")
        let lines = try #require(readme.firstMatch(of: #/```sh\n(printf (?s).*?)```/#)).1
        let run = try follow(["/bin/sh", "-c", String(lines)], environment: runtimeDirectory()).finish()
        let reply = try JSONValue(parsing: run.standardOutput)
        #expect(try Start.Reply(json: try #require(reply["parameters"]).text).outcome == .started)
    }

    @Test("the lines of Python in the README follow the countdowns that match, and continue with another daemon")
    func subscriber() throws {
        let subscriber = try follow(
            ["/usr/bin/python3", "-u", Example.source("python/subscriber.py")],
            environment: runtimeDirectory()
        )
        #expect(try subscriber.line() == "synced None None")
        let caller = try Caller(of: first)
        _ = try caller.call(Start(key: "tea", durationUSec: .seconds(3600)))
        _ = try caller.call(Start(key: "login/1", durationUSec: .seconds(3600)))
        #expect(try subscriber.line() == "started login/1 1:00:00")
        try first.kill()
        let second = try DaemonProcess(in: first.directory)
        _ = try Caller(of: second).call(Finish(key: "login/1"))
        var line = try subscriber.line()
        while let told = line, !told.hasPrefix("finished") { line = try subscriber.line() }
        #expect(line == "finished login/1 0:00:00")
    }

    @Test("the README has the subscriber unchanged")
    func readme() throws {
        let source = try BuiltProduct.text(of: "examples/python/subscriber.py")
        #expect(try BuiltProduct.text(of: "README.md").contains("```python\n\(source)```\n"))
    }
}
