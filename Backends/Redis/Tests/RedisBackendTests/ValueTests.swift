import Backend
import RESP
import Testing

@testable import RedisBackend

@Suite("URLs")
struct BackendURLTests {
    private func sentence(_ text: String) -> String {
        do {
            _ = try BackendURL(parsing: text)
            return "no error"
        } catch {
            return error.description
        }
    }

    @Test("all parts of a URL are read")
    func whole() throws {
        let text = "rediss://us%40er:p%3Aa%2Fss@engine.example:6380/?namespace=sms-1&ca=/c%20a&cert=/c&key=/k&acks=1"
        let url = try BackendURL(parsing: text)
        #expect(url.usesTLS)
        #expect(url.user == "us@er")
        #expect(url.password == "p:a/ss")
        #expect(url.address == "engine.example:6380")
        #expect(url.namespace == "sms-1")
        #expect(url.authorities == "/c a")
        #expect(url.certificate == "/c")
        #expect(url.privateKey == "/k")
        #expect(url.acknowledgements == 1)
    }

    @Test("what is left out has a default")
    func defaults() throws {
        let url = try BackendURL(parsing: "redis://localhost")
        #expect(!url.usesTLS && url.user == nil && url.password == nil)
        #expect(url.address == "localhost:6379" && url.namespace == "fleet" && url.acknowledgements == 0)
        #expect(try BackendURL(parsing: "redis://:secret@h").password == "secret")
        #expect(try BackendURL(parsing: "redis://:secret@h").user == nil)
        #expect(try BackendURL(parsing: "redis://[::1]:7000/").address == "[::1]:7000")
        #expect(try BackendURL(parsing: "redis://[::1]").host == "::1")
    }

    @Test(
        "an invalid URL is answered with the value and what is expected",
        arguments: [
            ("http://h", "invalid URL: use redis://HOST:PORT/?namespace=NAME, or rediss: for TLS"),
            ("redis:h", "invalid URL: use redis://HOST:PORT/?namespace=NAME, or rediss: for TLS"),
            ("redis://", "invalid URL: it names no host"),
            ("redis://h:0", "invalid port: use a number from 1 to 65535"),
            ("redis://h/3", "invalid path '/3': use / or none, because channels have no database"),
            ("redis://h?namespace=A", "invalid namespace 'A': use 1 to 32 of the characters a-z, 0-9 and -"),
            ("redis://h?acks=x", "invalid acks 'x': use a number from 0 to 8"),
            ("redis://h?db=1", "unknown parameter 'db': use namespace, ca, cert, key or acks"),
            ("redis://h?ca=/x", "ca, cert and key are parameters of TLS: use rediss: instead of redis:"),
            ("rediss://h?cert=/x", "cert and key belong together: use both or none"),
            ("redis://a:1,b:2", "Sentinel is not supported yet: use one host, and no parameter sentinel"),
            ("redis://a?sentinel=x", "Sentinel is not supported yet: use one host, and no parameter sentinel"),
        ]
    )
    func invalid(text: String, expected: String) { #expect(sentence(text) == expected) }

    @Test(
        "no error has the password",
        arguments: [
            "redis://user:SECRET", "redis://user:SE/SECRET@h", "redis://user:a?SECRET@h", "redis://SECRET@h",
            "redis://u:SECRET%zz@h", "redis://u:SECRET@h:x", "redis://u:SECRET@h/3", "redis://u:SECRET@h?x=1",
            "redis://u:SECRET@", "redis://u:SECRET@a,b", "redis://u:a#SECRET@h", "redis:u:SECRET@h",
        ]
    )
    func noPassword(text: String) {
        #expect(sentence(text) != "no error")
        #expect(!sentence(text).contains("SECRET"))
    }

    @Test("an engine's error is not repeated if it may repeat the password")
    func rejected() throws {
        let url = try BackendURL(parsing: "redis://u:SECRET@h")
        let words = "ERR unknown command 'AUTH', with args beginning with: 'u' 'SECRET' "
        #expect(!EngineFailure(reply: words, to: "AUTH", of: url).description.contains("SECRET"))
    }
}

@Suite("The engine's clock")
struct EngineClockTests {
    @Test("the sample with the least error counts, and errors grow with age")
    func leastError() {
        var clock = EngineClock()
        #expect(clock.add(engine: 1_000_100, sent: 0, received: 200) == 0)
        #expect(clock.offset(at: 200) == .init(engineLessBootUSec: 1_000_000, errorUSec: 101))
        // A worse one that agrees changes nothing.
        #expect(clock.add(engine: 1_001_000, sent: 1_000, received: 2_000) == nil)
        #expect(clock.offset(at: 2_000)?.engineLessBootUSec == 1_000_000)
        #expect(clock.offset(at: 10_000_200)?.errorUSec == 1_101)
        // A minute later it is better, because the old one has aged.
        #expect(clock.add(engine: 61_002_000, sent: 60_000_000, received: 60_002_000) == nil)
        #expect(clock.offset(at: 60_002_000) == .init(engineLessBootUSec: 1_001_000, errorUSec: 1_001))
    }

    @Test("a step is noticed at once, and told if it is more than 1 ms")
    func steps() {
        var clock = EngineClock()
        _ = clock.add(engine: 1_000_050, sent: 0, received: 100)
        #expect(clock.add(engine: 6_000_550, sent: 1_000, received: 1_100) == 4_999_500)
        #expect(clock.add(engine: 6_001_950, sent: 2_000, received: 2_100) == nil)
        #expect(clock.offset(at: 2_100)?.engineLessBootUSec == 5_999_900)
    }

    @Test("after the engine was lost the next sample counts, whatever its error is")
    func lost() {
        var clock = EngineClock()
        _ = clock.add(engine: 1_000_050, sent: 0, received: 100)
        clock.invalidate()
        #expect(clock.offset(at: 100) == .init(engineLessBootUSec: 1_000_000, errorUSec: 51))
        #expect(clock.add(engine: 2_050_000, sent: 0, received: 100_000) == 1_000_000)
        #expect(clock.offset(at: 100_000) == .init(engineLessBootUSec: 2_000_000, errorUSec: 50_001))
    }
}

@Suite("The place of a follower in the log")
struct LogPositionTests {
    private static func entry(_ version: Int64, _ id: String) -> RESPValue {
        .array([
            .bulk("\(version)-0"),
            .array([.bulk("key"), .bulk("k"), .bulk("record"), .bulk("\(version) \(id) {}")]),
        ])
    }

    /// The position of a log with changes `first` to `last`, of which `added` were ever added, for a follower at `at`.
    private func position(version: Int64?, _ range: ClosedRange<Int64>?, added: Int64, at: Int64) -> LogPosition {
        let entries = (range.map { Array($0) } ?? []).filter { $0 >= at }.prefix(2).map { Self.entry($0, "x.\($0)") }
        let information: RESPValue =
            range.map { range in
                .array([
                    .bulk("length"), .integer(Int64(range.count)), .bulk("last-generated-id"),
                    .bulk("\(range.upperBound)-0"),
                    .bulk("entries-added"), .integer(added), .bulk("first-entry"),
                    Self.entry(range.lowerBound, "x.\(range.lowerBound)"),
                ])
            } ?? .error("ERR no such key")
        return LogPosition(version: version, from: .array(Array(entries)), information: information)
    }

    private func verdict(_ position: LogPosition, _ version: Int64, _ id: String? = nil) -> String {
        switch position.verdict(on: Follow.Position(version: version, id: id ?? "x.\(version)")) {
        case .resumed: "resumed"
        case .trimmed: "trimmed"
        case .diverged: "diverged"
        }
    }

    @Test("each place has its verdict")
    func verdicts() {
        #expect(verdict(position(version: 9, 5...9, added: 9, at: 7), 7) == "resumed")
        #expect(verdict(position(version: 9, 5...9, added: 9, at: 9), 9) == "resumed")
        #expect(verdict(position(version: 9, 5...9, added: 9, at: 7), 7, "other") == "diverged")
        #expect(verdict(position(version: 9, 5...9, added: 9, at: 3), 3) == "trimmed")
        #expect(verdict(position(version: 9, 5...9, added: 9, at: 4), 4) == "trimmed")
        #expect(verdict(position(version: 9, 5...9, added: 5, at: 3), 3) == "diverged")
        #expect(verdict(position(version: 9, 5...9, added: 9, at: 10), 10) == "diverged")
        #expect(verdict(position(version: nil, nil, added: 0, at: 3), 3) == "diverged")
        #expect(verdict(position(version: 9, nil, added: 0, at: 3), 3) == "trimmed")
        #expect(verdict(position(version: 9, nil, added: 0, at: 9), 9) == "trimmed")
        // The log ends before the version.
        #expect(verdict(position(version: 9, 5...8, added: 8, at: 8), 8) == "diverged")
    }
}
