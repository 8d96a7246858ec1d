import Foundation
import IPC
import TestSupport
import Testing

@testable import countdownctl

@Suite("The cursor of watch --exec")
struct HookCursorTests {
    private func change(_ revision: Int64) -> Event { Event(type: .finished, revision: revision, key: "tea") }

    @Test("it begins at synced, or at the revision of the last run")
    func begins() {
        var cursor = HookCursor(since: nil)
        cursor.receive(change(5))
        #expect(cursor.revision == nil)
        cursor.receive(Event(type: .synced, revision: 4))
        #expect(cursor.revision == 4)
        cursor.receive(change(5))
        #expect(cursor.revision == 5)
        var resumed = HookCursor(since: 7)
        #expect(resumed.revision == 7)
        resumed.receive(change(9))
        #expect(resumed.revision == 9)
    }

    @Test("it stays before the first event whose command has not exited, in whatever order commands exit")
    func waits() {
        var cursor = HookCursor(since: 10)
        var commands: [Int] = []
        for revision in [11, 13, 14] as [Int64] {
            commands.append(cursor.addCommand())
            cursor.receive(change(revision))
        }
        cursor.receive(change(20))
        #expect(cursor.revision == 10)
        cursor.finish(commands[1])
        #expect(cursor.revision == 10)
        cursor.finish(commands[0])
        #expect(cursor.revision == 13)
        cursor.finish(commands[2])
        #expect(cursor.revision == 20)
    }

    @Test("a command for an event before synced leaves no cursor until it exits")
    func opens() {
        var cursor = HookCursor(since: nil)
        let command = cursor.addCommand()
        cursor.receive(Event(type: .attached, key: "tea"))
        cursor.receive(Event(type: .synced, revision: 4))
        #expect(cursor.revision == nil)
        cursor.finish(command)
        #expect(cursor.revision == 4)
    }

    @Test("the file has the revision in one line; another content is a usage error that names the file")
    func keepsFile() throws {
        let directory = try TemporaryDirectory()
        let file = try CursorFile(path: directory.path(of: "cursor"))
        #expect(try file.read() == nil)
        try file.write(1_772_355_600_000_042)
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "1772355600000042\n")
        #expect(try file.read() == 1_772_355_600_000_042)
        for content in ["", "\n", "\0\0\0"] {
            _ = try directory.write(content, to: "cursor")
            #expect(try file.read() == nil)
        }
        for content in ["5", "-5\n", "5 6\n", "#!/bin/sh\n", "\0005\n", " \n", String(repeating: "5", count: 4_000)] {
            _ = try directory.write(content, to: "cursor")
            let failure = #expect(throws: CommandFailure.self) { try file.read() }
            #expect(failure?.exitCode == .usage && failure?.sentence.contains(file.path) == true)
        }
        let missing = directory.path(of: "nowhere/cursor")
        let failure = #expect(throws: CommandFailure.self) { try CursorFile(path: missing) }
        #expect(failure?.exitCode == .notStored)
    }
}
