import CountdownCore
import TestSupport
import Testing

@testable import countdownd

@Suite("A batch of changes")
struct BatchTests {
    private static let text = #"[0,"a",0]\#n[1,"b,\"",0]\#n[2,"c",0]\#n[15,"p",0]"#

    private func batch(_ text: String = text) -> RowBatch { RowBatch(first: 1_000, bytes: Array(text.utf8)) }

    private func without(_ revisions: [Int64], of batch: RowBatch) -> (rest: String, left: [Int64]) {
        var left = revisions[...]
        let rest = batch.without(&left)
        return (String(decoding: rest, as: UTF8.self), Array(left))
    }

    @Test("it has a line for each change, and at least one")
    func lines() {
        #expect(batch().lines.count == 4)
        #expect(batch("").lines == [0..<0])
        #expect(batch("a\n").lines == [0..<1, 2..<2])
    }

    @Test("deleting changes keeps all others, in any position")
    func takingOut() {
        #expect(without([1_000], of: batch()) == ("[1,\"b,\\\"\",0]\n[2,\"c\",0]\n[15,\"p\",0]", []))
        #expect(without([1_001, 1_002], of: batch()) == ("[0,\"a\",0]\n[15,\"p\",0]", []))
        #expect(without([1_015], of: batch()) == ("[0,\"a\",0]\n[1,\"b,\\\"\",0]\n[2,\"c\",0]", []))
        #expect(without([1_000, 1_001, 1_002, 1_015], of: batch()) == ("", []))
    }

    @Test("a revision that is missing counts as deleted; later revisions are left for other batches")
    func others() {
        #expect(without([990, 1_000, 1_007, 1_016, 2_000], of: batch()).left == [1_016, 2_000])
        #expect(without([1_007], of: batch()) == (Self.text, []))
    }

    @Test("a malformed line is kept", arguments: ["x", "[", "[,", "[\"0\",1]", "[ 0,1]", "{}"])
    func strange(line: String) {
        #expect(without([1_000, 1_001], of: batch("[0,1]\n\(line)\n[1,2]\n[2,3]")).rest == "\(line)\n[2,3]")
    }
}

@Suite("Deleting from batches")
final class DeletionTests: StoreSuite {
    private let keys = (0..<100).map { "\($0)" }

    private func batches() throws -> Int64 { try #require(try scene.integer("SELECT count(*) FROM batch")) }
    private func rows() throws -> Int64 { try #require(try scene.integer("SELECT count(*) FROM countdown")) }

    private func restart(_ keys: some Sequence<String>) throws -> [Request] {
        try keys.map { .start(Request.Start(try Key($0), ifLive: .restart)) }
    }

    @Test(
        "replaced changes are deleted from their batches, and the other changes stay",
        arguments: [1, 2, 3, 16, 17]
    )
    func scattered(step: Int) throws {
        do {
            let keeper = try scene.open()
            try keeper.turn(try restart(keys), at: scene.now)
            try keeper.turn(try restart(stride(from: 0, to: 100, by: step).map { keys[$0] }), at: scene.now)
            for _ in 1...3 { try keeper.turn(try restart(["other"]), at: scene.now) }
            #expect(try rows() <= 102)
            try scene.crash()
        }
        let keeper = try scene.open()
        #expect(Set(keeper.known.map(\.key.text)) == Set(keys + ["other"]))
        #expect(scene.lines.all.isEmpty)
    }

    @Test("a batch is deleted with its last change")
    func emptied() throws {
        let keeper = try scene.open()
        for _ in 1...5 { try keeper.turn(try restart(keys), at: scene.now) }
        try keeper.turn(try restart(["other"]), at: scene.now)
        try keeper.turn(try restart(["other"]), at: scene.now)
        #expect(try batches() <= 9)
    }

    @Test("changes that a person has deleted already are ignored")
    func deletedBefore() throws {
        do {
            let keeper = try scene.open()
            try keeper.turn(try restart(keys), at: scene.now)
            do {
                try scene.execute(
                    "DELETE FROM countdown WHERE key = '50'; DELETE FROM batch WHERE first % 2 = 0"
                )
            }
            try keeper.turn(try restart(keys), at: scene.now)
            for _ in 1...3 { try keeper.turn(try restart(["other"]), at: scene.now) }
        }
        #expect(try scene.open().known.count == 101)
    }
}
