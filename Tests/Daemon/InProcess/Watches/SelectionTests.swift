import IPC
import TestSupport
import Testing
import Varlink

@Suite("The selection of a watch")
struct SelectionTests {
    private let daemon: SmallDaemon
    private let caller: Caller

    init() throws {
        daemon = try SmallDaemon()
        caller = try Caller(of: daemon)
    }

    /// The keys of the events of a watch: at its beginning, and while all are cancelled; `List` must return the same.
    private func heard(_ watch: Watch, of keys: [String]) throws -> [String] {
        for key in keys + ["fence"] { _ = try caller.call(Start(key: key, ifRunning: .restart)) }
        var watch = watch
        watch.tickUSec = 0
        let follower = try Follower(of: daemon, watch)
        let attached = try follower.events(through: .synced).compactMap(\.key)
        let listed = try caller.call(List(match: watch.match, keys: watch.keys)).countdowns.map(\.key)
        #expect(listed == attached)
        for key in keys { _ = try caller.call(Cancel(key: key)) }
        let expected = attached.filter { $0 != "fence" }
        #expect(try expected.map { _ in try follower.next() }.map(\.key) == expected)
        return attached
    }

    @Test("without keys and patterns everything is followed")
    func everything() throws {
        #expect(try heard(Watch(), of: ["a", "b/c"]) == ["a", "b/c", "fence"])
    }

    @Test("with keys, only those are watched, once even if a key is repeated")
    func keys() throws {
        #expect(try heard(Watch(keys: ["c", "a", "a", "none"]), of: ["a", "b", "c"]) == ["a", "c"])
    }

    @Test("with patterns, the keys that match are watched, once even if several patterns match")
    func patterns() throws {
        let keys = ["login/1", "login/2", "register/1", "phone"]
        #expect(try heard(Watch(match: ["login/*", "*/1"]), of: keys) == ["login/1", "login/2", "register/1"])
    }

    @Test("with keys and patterns, the keys in either are watched")
    func both() throws {
        let keys = ["login/1", "register/1", "phone"]
        #expect(try heard(Watch(match: ["login/*"], keys: ["phone", "login/1"]), of: keys) == ["login/1", "phone"])
    }

    @Test("a star matches slashes too, and alone it matches everything")
    func star() throws {
        #expect(try heard(Watch(match: ["*"]), of: ["a/b/c", "d"]) == ["a/b/c", "d", "fence"])
        #expect(try heard(Watch(match: ["a*c"]), of: ["a/b/c", "d"]) == ["a/b/c"])
    }

    @Test("empty lists select nothing, and synced comes at once", arguments: [0, 1, 2])
    func nothing(_ kind: Int) throws {
        let watches = [Watch(match: [], keys: []), Watch(match: []), Watch(keys: [])]
        #expect(try heard(watches[kind], of: ["a", "b"]) == [])
    }

    /// Keys that a pattern would read otherwise than they are written.
    static let specialKeys = [
        "*", "?", "[", "]", #"\"#, "a*", "a?", "[ab]", "[!a]", #"\*"#, "**", "ü/日本", " ", "\"",
    ]

    @Test("a key is literal, whatever its characters", arguments: specialKeys)
    func special(_ key: String) throws {
        let others = ["a", "b", "ab", "x"] + Self.specialKeys.filter { $0 != key }
        #expect(try heard(Watch(keys: [key]), of: [key] + others) == [key])
    }

    @Test("a bracket matches one of its characters, one of a range, or none of them")
    func brackets() throws {
        let keys = ["a", "b", "z", "*", "[", "]", "-", "ä"]
        #expect(try heard(Watch(match: ["[ab]"]), of: keys) == ["a", "b"])
        #expect(try heard(Watch(match: ["[a-z]"]), of: keys) == ["a", "b", "z"])
        #expect(try heard(Watch(match: ["[!a-z]"]), of: keys) == ["*", "[", "]", "-", "ä"])
        #expect(try heard(Watch(match: ["[*]"]), of: keys) == ["*"])
        #expect(try heard(Watch(match: ["[]]"]), of: keys) == ["]"])
        #expect(try heard(Watch(match: ["?"]), of: keys) == keys)
    }

    @Test("a pattern has no escapes: a backslash is an ordinary character")
    func backslash() throws {
        let keys = ["*", #"\*"#, #"\a"#, "a", "["]
        #expect(try heard(Watch(match: [#"\*"#]), of: keys) == [#"\*"#, #"\a"#])
        #expect(try heard(Watch(match: [#"\?"#]), of: keys) == [#"\*"#, #"\a"#])
        #expect(try heard(Watch(match: [#"[\*]"#]), of: keys) == ["*"])
        #expect(try heard(Watch(match: ["[^a-z]"]), of: keys) == ["*", "["])
    }

    @Test("a thousand long keys fit into one watch, and all are followed")
    func manyKeys() throws {
        let keys = (0..<1_000).map { "\($0)-" + String(repeating: "k", count: 240) }
        #expect(try heard(Watch(keys: keys), of: Array(keys.prefix(3))) == Array(keys.prefix(3)))
    }

    @Test("a watch of one key gets no event of another")
    func others() throws {
        let follower = try Follower(of: daemon, Watch(tick: .milliseconds(10), keys: ["mine"]))
        try follower.events(through: .synced)
        _ = try caller.call(Start(key: "other", durationUSec: .milliseconds(50)))
        _ = try caller.call(Start(key: "min"))
        _ = try caller.call(Start(key: "mine/too"))
        _ = try caller.call(Wait(key: "other"))
        _ = try caller.call(Start(key: "mine"))
        let event = try follower.next()
        #expect(event.type == .started)
        #expect(event.key == "mine")
    }
}
