import CountdownCore
import TestSupport
import Testing

@Suite("A pattern")
struct PatternTests {
    @Test(
        "matches",
        arguments: [
            ("tea", "tea"), ("*", "tea"), ("*", "a/b/c"), ("**", "tea"), ("t*", "t"), ("t*", "tea"), ("*a", "tea"),
            ("t*a", "tea"), ("t*a", "ta"), ("login/*", "login/1/2"), ("*/2", "login/1/2"), ("l*/*2", "login/1/2"),
            ("?ea", "tea"), ("???", "tea"), ("?", "茶"), ("?", "/"), ("a?c", "a/c"), ("*ab", "aab"), ("*ab", "abaab"),
            ("a*b*c", "aXbXbXc"), ("*a*", "a"), ("*?", "t"), ("?*?", "te"),
            ("[tp]ea", "tea"), ("[a-z]", "q"), ("[a-c-]", "-"), ("[-a]", "-"), ("[a-]", "-"), ("[z-a]", "m"),
            ("[!a-z]", "A"), ("[^a-z]", "A"), ("[!]]", "a"), ("[*]", "*"), ("[?]", "?"), ("a[*]c", "a*c"), ("[]]", "]"),
            ("[]a]", "a"), ("[[]", "["), ("[!!]", "a"), ("[a!]", "!"), ("[a^]", "^"), ("]", "]"), ("a]", "a]"),
            ("[茶-茸]", "茷"),
            ("[/]", "/"), ("[🫖]", "🫖"), ("-", "-"), ("!", "!"), ("\\*", "\\tea"),
            // Behind a star.
            ("*[a-c][é-ü][!x][茶]?z", "ooaü-茶?z"), ("*[!a-z0-9]🫖?🫖?", "tea/🫖a🫖é"), ("*aaaaa*b", "aaaaaaab"),
            ("*[\u{D7FF}][\u{E000}]aaa", "\u{D7FF}\u{E000}aaa"), ("*[\u{10FFFF}]aaaa*", "\u{10FFFF}aaaa"),
        ]
    )
    func matches(pattern: String, key: String) throws {
        #expect(try Pattern(pattern).matches(Key(key)))
    }

    @Test(
        "does not match",
        arguments: [
            ("tea", "te"), ("te", "tea"), ("tea", "Tea"), ("t*", "eat"), ("*a", "team"), ("t*a", "team"), ("?ea", "ea"),
            ("??", "t"), ("?", "te"), ("a*b*c", "aXcXb"), ("*ab", "aba"), ("[tp]ea", "sea"), ("[a-z]", "Q"),
            ("[!a-z]", "q"), ("[^a-z]", "q"), ("[!]]", "]"), ("[*]", "a"), ("[?]", "a"), ("a[*]c", "abc"), ("[]]", "a"),
            ("[!!]", "!"), ("[a]", "aa"), ("[a]", "["), ("login/*", "login"), ("?*?", "t"), ("\\*", "*"),
            ("cafe", "caf\u{E9}"),
            // Behind a star.
            ("*[a-c][é-ü][!x][茶]?z", "oodü-茶?z"), ("*[a-c][é-ü][!x][茶]?z", "ooaýy茶?z"),
            ("*[a-c][é-ü][!x][茶]?z", "ooaüx茶?z"), ("*[a-c][é-ü][!x][茶]?z", "ooaü-茷?z"),
            ("*[!a-z0-9]🫖?🫖?", "tea🫖a🫖é"), ("*aaaaa*b", "aaaab"),
        ]
    )
    func doesNotMatch(pattern: String, key: String) throws {
        #expect(try !Pattern(pattern).matches(Key(key)))
    }

    @Test(
        "whose bracket is not closed is refused",
        arguments: ["[", "[a", "a[", "[]", "[!", "[!]", "[^]", "[a-", "x[a-z", "[a][", "[[]["]
    )
    func unclosedBracket(text: String) {
        #expect(throws: InvalidPattern.unclosedBracket) { try Pattern(text) }
    }

    @Test("of stars alone matches every key, and is recognized as such")
    func matchesAll() throws {
        #expect(try Pattern("*").matchesAll)
        #expect(try Pattern("***").matchesAll)
        #expect(try !Pattern("*?").matchesAll)
        #expect(try !Pattern("[*]").matchesAll)
    }

    @Test("with as many stars as fit is decided quickly, even if it does not match")
    func pathological() throws {
        let stars = try Pattern(String(repeating: "*a", count: 127) + "b")
        let runs = try Pattern(String(repeating: "a*", count: 127) + "b")
        let brackets = try Pattern(String(repeating: "*[!b]", count: 50) + "b")
        let key = try Key(String(repeating: "a", count: 255))
        for pattern in [stars, runs, brackets] { #expect(!pattern.matches(key)) }
    }

    @Test("agrees with the plainest definition of a match on random patterns")
    func definition() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<20_000 {
            let pattern = draw("ab*?", upTo: 8, using: &generator)
            let key = draw("ab", upTo: 8, using: &generator)
            #expect(try Pattern(pattern).matches(Key(key)) == isMatch(pattern[...], key[...]), "\(pattern) on \(key)")
        }
    }

    @Test("with long runs of parts agrees as well, within and across the words of its states")
    func longDefinition() throws {
        var generator = SeededGenerator(seed: 8)
        for _ in 0..<200 {
            let parts = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                draw("ab?", upTo: 70, using: &generator)
            }
            let pattern = "*" + parts.joined(separator: "*")
            let filled = parts.map { $0.replacing("?", with: "b") }
            let key = draw("ab", upTo: 9, using: &generator) + filled.joined(separator: "ab")
            #expect(try Pattern(pattern).matches(Key(key)), "\(pattern) on \(key)")
            for wrong in [key + "c", "c" + String(key.dropLast()), String(key.dropLast())] {
                #expect(try Pattern(pattern).matches(Key(wrong)) == isMatch(pattern, wrong), "\(pattern) on \(wrong)")
            }
        }
    }

    @Test("of no characters, or with more parts than a key has bytes, is refused")
    func length() throws {
        #expect(throws: InvalidPattern.empty) { try Pattern("") }
        _ = try Pattern(String(repeating: "a", count: 255))
        #expect(throws: InvalidPattern.tooLong(parts: 256)) { try Pattern(String(repeating: "a", count: 256)) }
    }

    private func draw(_ alphabet: String, upTo duration: Int, using generator: inout SeededGenerator) -> String {
        String(
            (0..<Int.random(in: 1...duration, using: &generator)).compactMap { _ in
                alphabet.randomElement(using: &generator)
            }
        )
    }

    /// Likewise for long ones: each `*` tries every place once at most.
    private func isMatch(_ pattern: String, _ key: String) -> Bool {
        let (parts, characters) = (Array(pattern), Array(key))
        var places: Set<Int> = [0]
        func pass(_ places: inout Set<Int>) {
            for place in places.sorted() where place < parts.count && parts[place] == "*" {
                var next = place
                while next < parts.count, parts[next] == "*" { next += 1 }
                places.insert(next)
            }
        }
        for character in characters {
            pass(&places)
            places = places.reduce(into: []) { next, place in
                guard place < parts.count else { return }
                if parts[place] == "*" { next.insert(place) }
                if parts[place] == "?" || parts[place] == character { next.insert(place + 1) }
            }
        }
        pass(&places)
        return places.contains(parts.count)
    }

    private func isMatch(_ pattern: Substring, _ key: Substring) -> Bool {
        guard let part = pattern.first else { return key.isEmpty }
        let rest = pattern.dropFirst()
        if part == "*" { return isMatch(rest, key) || (!key.isEmpty && isMatch(pattern, key.dropFirst())) }
        guard let first = key.first, part == "?" || part == first else { return false }
        return isMatch(rest, key.dropFirst())
    }
}
