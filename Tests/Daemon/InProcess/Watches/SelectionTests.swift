import IPC
import TestSupport
import Testing
import Varlink

/// `PatternTests` say which keys a pattern matches.
@Suite("The selection of a watch")
final class SelectionTests: SmallDaemonSuite {
    /// A watch, the keys that are started, and those that it is about.
    static let selections: [(watch: Watch, keys: [String], heard: [String])] = [
        (Watch(), ["a", "b/c"], ["a", "b/c", "fence"]),
        (Watch(keys: ["c", "a", "a", "none"]), ["a", "b", "c"], ["a", "c"]),
        (Watch(match: ["in/*", "*/1"]), ["in/1", "in/2", "sms/1", "phone"], ["in/1", "in/2", "sms/1"]),
        (Watch(match: ["in/*"], keys: ["phone", "in/1"]), ["in/1", "sms/1", "phone"], ["in/1", "phone"]),
        (Watch(match: ["*"]), ["a/b/c", "d"], ["a/b/c", "d", "fence"]),
        (Watch(match: [], keys: []), ["a", "b"], []), (Watch(match: []), ["a", "b"], []),
        (Watch(keys: []), ["a", "b"], []),
    ]

    @Test("a watch is about the keys that it names and that match, each once, as List is", arguments: selections)
    func selects(watch: Watch, keys: [String], heard: [String]) throws {
        for key in keys + ["fence"] { _ = try caller.call(Start(key: key)) }
        var watch = watch
        watch.tickUSec = 0
        let follower = try Follower(of: daemon, watch)
        #expect(try follower.events(through: .synced).compactMap(\.key) == heard)
        #expect(try caller.call(List(match: watch.match, keys: watch.keys)).countdowns.map(\.key) == heard)
        for key in keys + ["fence"] { _ = try caller.call(Cancel(key: key)) }
        #expect(try heard.map { _ in try follower.next() }.map(\.key) == heard)
        try daemon.follower(Watch()).events(through: .synced)
        #expect(try follower.caller.connection.arrivedMessages().messages.isEmpty)
    }

    @Test("a key is literal, whatever its characters", arguments: ["*", "?", "[ab]", #"\"#, "**", "ü/日本", " ", "\""])
    func special(_ key: String) throws {
        try selects(watch: Watch(keys: [key]), keys: [key, "a", "ab", "x", "[", "***"], heard: [key])
    }
}
