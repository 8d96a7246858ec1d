import CountdownCore
import Foundation
import TestSupport
import Testing

@testable import countdownd

@Suite("A log that cannot be read")
final class QuarantineTests: StoreSuite {
    /// A fault of the files, besides its description.
    enum Kind: CaseIterable {
        case randomBytes, emptySegment, cutHeading, newer, wrongState
        case withoutFirst, withoutSegment, withoutBase, baseAlone, otherStore, largeNumber

        var words: String {
            switch self {
            case .randomBytes, .emptySegment, .cutHeading, .wrongState:
                "the beginning of 0000000004.log is no turn of a log"
            case .newer: "the format 2 of 0000000004.log is from a newer countdownd; this one knows formats up to 1"
            case .withoutBase: "0000000002.base is missing"
            case .withoutSegment: "0000000003.log is missing"
            case .withoutFirst, .baseAlone: "0000000002.log is missing"
            case .otherStore: ".log is of another log"
            case .largeNumber: "0000000005.log is missing"
            }
        }

        var advice: String {
            switch self {
            case .newer: "upgrade countdownd"
            case .withoutFirst, .withoutSegment, .withoutBase, .baseAlone, .otherStore, .largeNumber:
                "if you find the file"
            default: "to restore a backup"
            }
        }
    }

    /// A base with three segments, the last of which is of a second boot that goes on.
    private func leaveStore() throws {
        scene.thresholds = StoreThresholds(tolerated: 4_000)
        do {
            let keeper = try scene.open()
            for number in 0..<80 { try keeper.turn(.restart("\(number % 20)"), at: scene.now) }
            keeper.work(at: scene.now)
        }
        scene.thresholds = StoreThresholds(segmentBytes: 3_000)
        let keeper = try scene.open()
        while try scene.log.last < "0000000004.log" { try keeper.turn(.restart("more"), at: scene.now) }
        for _ in 1...5 { try keeper.turn(.restart("more"), at: scene.now) }
        try scene.crash()
        try #require(scene.log.names == ["0000000002.base", "0000000002.log", "0000000003.log", "0000000004.log"])
        scene.thresholds = StoreThresholds()
    }

    private func remove(_ name: String) { unsafe unlink(scene.log.path(of: name)) }

    private func prepare(_ kind: Kind) throws {
        try leaveStore()
        let last = try scene.log.last
        switch kind {
        case .randomBytes:
            try scene.log.write((0..<8_192).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) }, to: last)
        case .emptySegment: try scene.log.write([], to: last)
        case .cutHeading: try scene.log.write(scene.log.bytes(of: last).prefix(50), to: last)
        case .newer:
            try scene.log.write(
                scene.log.lines(of: last).map { $0.replacing(#"["state",1,"#, with: #"["state",2,"#) + "\n" }.joined()
                    .utf8,
                to: last
            )
        case .wrongState:
            try scene.log.write(
                scene.log.lines(of: last).map { $0.replacing(#"["state",1,"#, with: #"["state",1,1,"#) + "\n" }.joined()
                    .utf8,
                to: last
            )
        case .withoutFirst:
            remove("0000000002.base")
            remove("0000000002.log")
            try scene.log.write([], to: "0000000002.base")
        case .withoutSegment: remove("0000000003.log")
        case .withoutBase: remove("0000000002.base")
        case .baseAlone: for name in ["0000000002.log", "0000000003.log", "0000000004.log"] { remove(name) }
        case .otherStore:
            let other = try StoreScene()
            for _ in 1...3 {
                try other.open().turn(.start("other"), at: other.now)
                other.reboot("\(other.now.boot)")
            }
            try scene.log.write(other.log.bytes(of: "0000000003.log"), to: "0000000003.log")
        case .largeNumber: try scene.log.write(scene.log.bytes(of: last), to: "9999999999.log")
        }
    }

    @Test("it is kept as it is under a name with the date, and a new log is begun", arguments: Kind.allCases)
    func movesAside(_ kind: Kind) throws {
        try prepare(kind)
        let before = try scene.files
        let keeper = try scene.open()
        #expect(keeper.known.isEmpty)
        let after = try scene.files
        for (name, contents) in before where name.hasPrefix("log/") {
            #expect(after[name.replacing("log/", with: "log-unreadable-20250615T152320Z/")] == contents, "\(name)")
        }
        let line = try #require(scene.lines.all.last)
        #expect(scene.lines.all.count == 1)
        #expect(line.hasPrefix("error: \(scene.log.folder) cannot be read: "))
        #expect(line.contains(kind.words), "\(line)")
        #expect(line.contains("kept as \(scene.directory.path)/log-unreadable-20250615T152320Z"), "\(line)")
        #expect(line.contains(kind.advice), "\(line)")

        try keeper.turn(.start("new"), at: scene.now)
        try scene.crash()
        #expect(try scene.open().keys == ["new"])
        #expect(scene.lines.all.count == 1)
    }

    @Test("its new name is not taken")
    func names() throws {
        for suffix in ["", "-2"] { try scene.directory.write("kept", to: "log-unreadable-20250615T152320Z\(suffix)") }
        try leaveStore()
        try scene.log.write("text".utf8, to: scene.log.last)
        _ = try scene.open()
        #expect(try scene.files["log-unreadable-20250615T152320Z-3/0000000004.log"] == Data("text".utf8))
        #expect(try scene.files.values.count { $0 == Data("kept".utf8) } == 2)
    }

    @Test(
        "files that the base replaces and files that were not finished are removed; other files stay, and one is named"
    )
    func leftovers() throws {
        try leaveStore()
        let names = try scene.log.names
        let other = try StoreScene()
        do { try other.open().stop() }
        // The power failed before the removal, or a person has put files there.
        try scene.log.write(other.log.bytes(of: "0000000001.log"), to: "0000000001.log")
        for name in ["0000000005.base.new", "0000000005.log.new", "notes.txt", "7.log"] {
            try scene.log.write("x".utf8, to: name)
        }
        let keeper = try scene.open()
        #expect(keeper.timetable.liveCount == 21)
        #expect(try scene.log.names == (["0000000001.log"] + names + ["7.log", "notes.txt"]).sorted())
        #expect(
            scene.lines.all == [
                "error: \(scene.log.folder): 7.log in the folder of the log is no file of it, and is left alone"
            ]
        )
    }

    @Test("a file of another log stays when a base takes the place of the files before it")
    func strangerBeforeBase() throws {
        try leaveStore()
        let other = try StoreScene()
        do { try other.open().stop() }
        let bytes = try other.log.bytes(of: "0000000001.log")
        try scene.log.write(bytes, to: "0000000001.log")
        scene.thresholds = StoreThresholds(tolerated: 100)
        let keeper = try scene.open()
        for _ in 1...50 { try keeper.turn(.restart("more"), at: scene.now) }
        keeper.work(at: scene.now)
        #expect(keeper.store.bases == 1)
        #expect(try scene.log.bytes(of: "0000000001.log") == bytes)
        #expect(try !scene.log.names.contains("0000000002.base"))
        // Nor is it missed.
        unsafe unlink(scene.log.path(of: "0000000001.log"))
        try keeper.store.check()
    }

    @Test("a kill before the files that a base replaces are removed leaves nothing that is read twice or stays")
    func older() throws {
        try leaveStore()
        // What was before the base: a segment with the same ID, and lines that do not count any more.
        let before = try scene.log.bytes(of: "0000000002.log")
        try scene.log.write(before, to: "0000000001.log")
        try scene.log.write(
            String(decoding: before, as: UTF8.self).replacing(#"["segment",2,"#, with: #"["segment",1,"#).utf8,
            to: "0000000001.log"
        )
        let keeper = try scene.open()
        #expect(keeper.timetable.liveCount == 21)
        #expect(try !scene.log.names.contains("0000000001.log"))
        #expect(scene.lines.all.isEmpty)
    }
}
