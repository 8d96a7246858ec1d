import CountdownCore
import Testing

@testable import countdownd

@Suite("Adding rows")
final class InsertionTests: StoreSuite {
    @Test("all changes of a turn are stored in their order, for any number of them", arguments: [1, 15, 16, 17, 40])
    func turns(count: Int) throws {
        let keys = (0..<count).map { "key \($0) " + String(repeating: "k", count: $0) }
        do { try scene.open().turn(try keys.map { try .start($0) }, at: scene.now) }
        let known = try scene.open().known
        #expect(known.map(\.key.text) == keys)
        #expect(zip(known, known.dropFirst()).allSatisfy { $1.revision.number == $0.revision.number + 1 })
    }

    @Test("if another program has used the revision, the turn fails and stores nothing")
    func strangers() throws {
        let keeper = try scene.open()
        let first = try #require(try keeper.turn([try .start("first")], at: scene.now).first)
        let second = first.countdown.revision.number + 1 + RowBatch.distances.upperBound
        do { try scene.connect().execute("INSERT INTO batch VALUES (\(second), 'somebody else''s')") }
        let requests = try (0..<40).map { try Request.start("\($0)") }
        #expect(throws: StoreFailure.self) { try keeper.turn(requests, at: scene.now) }
        #expect(try scene.integer("SELECT count(*) FROM batch") == 2)
    }
}
