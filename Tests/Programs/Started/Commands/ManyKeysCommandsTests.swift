import IPC
import TestSupport
import Testing

@Suite("countdownctl with many keys")
struct ManyKeysCommandsTests {
    private let daemon: DaemonProcess
    private let typist: Typist
    /// More than the daemon's limit of patterns.
    private let keys = (1...100).map { "key-\($0)" }

    init() throws {
        daemon = try DaemonProcess()
        typist = Typist(daemon)
    }

    @Test("wait waits for all keys and reports each once")
    func waits() throws {
        let caller = try Caller(of: daemon)
        for key in keys { _ = try caller.call(Start(key: key, durationUSec: 3_600_000_000)) }
        let wait = try typist.begin("wait \(keys.joined(separator: " "))")
        try typist.awaitWatchers(1)
        _ = try typist.type("finish \(keys.joined(separator: " "))")
        let run = try wait.finish()
        #expect(run.exitCode == 0)
        #expect(Set(run.data) == Set(keys.map { "\($0): finished at TIME" }) && run.data.count == keys.count)
    }

    @Test("watch and list accept them as patterns, because they have no wildcards")
    func selects() throws {
        for key in ["key-1", "key-100", "tea", "coffee"] { _ = try typist.type("start \(key) 1h") }
        let watch = try typist.begin("watch \(keys.joined(separator: " ")) te* --tick 0")
        let beginnings = try (0..<3).map { _ in try watch.line()?.prefix { $0 != ":" } }
        #expect(Set(beginnings) == ["key-1", "key-100", "tea"])
        watch.interrupt()
        #expect(try watch.finish().exitCode == 130)
        let list = try typist.type("list --no-legend \(keys.joined(separator: " ")) te*")
        #expect(list.data.map { $0.prefix { $0 != " " } } == ["key-1", "key-100", "tea"])
    }

    @Test("an invalid key among others is named, and the others are changed")
    func namesInvalidKey() throws {
        for key in ["a", "b"] { _ = try typist.type("start \(key) 1h") }
        let run = try typist.type(words: ["cancel", "a", "c\nd", String(repeating: "k", count: 256), "b"])
        #expect(run.exitCode == 64)
        for name in ["c\\nd", String(repeating: "k", count: 80) + "…"] {
            let message = "countdownctl: invalid key '\(name)': use 1 to 255 bytes without control characters"
            #expect(run.messages.contains(message), "\(run.messages)")
        }
        #expect(try typist.type("list").data.isEmpty)
    }

    @Test("too many patterns exit with 64, and the error has the limit", arguments: ["watch", "list"])
    func refuses(_ verb: String) throws {
        let run = try typist.type("\(verb) \(keys.map { "\($0)*" }.joined(separator: " "))")
        #expect(run.exitCode == 64)
        #expect(run.message.hasPrefix("countdownctl: too many patterns: at most 64; "))
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
