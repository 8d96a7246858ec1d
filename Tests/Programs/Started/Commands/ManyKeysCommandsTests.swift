import IPC
import TestSupport
import Testing

@Suite("countdownctl with many keys")
final class ManyKeysCommandsTests: CommandSuite {
    /// More than the daemon's limit of patterns.
    private let keys = (1...100).map { "key-\($0)" }

    @Test("wait waits for all keys and reports each once")
    func waits() throws {
        let caller = try Caller(of: daemon)
        for key in keys { _ = try caller.call(Start(key: key, durationUSec: 3_600_000_000)) }
        let wait = try typist.begin("wait \(keys.joined(separator: " "))")
        try typist.awaitWatchers(1)
        try prepare("finish \(keys.joined(separator: " "))")
        let run = try wait.finish()
        #expect(run.exitCode == 0)
        #expect(run.data.sorted() == keys.map { "\($0): finished at TIME" }.sorted())
    }

    @Test("watch and list accept them as patterns, because they have no wildcards")
    func selects() throws {
        try prepare("start key-1 1h", "start key-100 1h", "start tea 1h", "start coffee 1h")
        let watch = try typist.begin("watch \(keys.joined(separator: " ")) te* --tick 0")
        let beginnings = try (0..<3).map { _ in try watch.line()?.prefix { $0 != ":" } }
        #expect(Set(beginnings) == ["key-1", "key-100", "tea"])
        #expect(try watch.stop().exitCode == 130)
        let list = try typist.type("list --no-legend \(keys.joined(separator: " ")) te*")
        #expect(list.data.map { $0.prefix { $0 != " " } } == ["key-1", "key-100", "tea"])
    }

    @Test("keys that make a call too long exit with 64, and the error has the limit")
    func refusesLength() throws {
        let pairs = ["a", "b", "c"].flatMap { ["--meta", $0 + "=" + String(repeating: "x", count: 100_000)] }
        let long = (1_000..<2_100).map { String(repeating: "k", count: 250) + "\($0)" }
        for words in [["start", "tea"] + pairs, ["watch"] + long] {
            let run = try typist.type(words: words)
            #expect(run.exitCode == 64)
            #expect(run.message.contains(/the call has [0-9]{6} bytes; the daemon accepts at most 262144/))
        }
    }
}
