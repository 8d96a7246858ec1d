import CountdownCore
import TestSupport
import Testing

@Suite("Watchers")
final class WatcherTests {
    var watchers = Watchers()
    let now = SimulatedClocks().now

    private func subscribers(of text: String) -> [Int] {
        var numbers: [Int] = []
        watchers.forEachWatcher(of: key(text)) { numbers.append($0.number) }
        return numbers.sorted()
    }

    private func open(_ number: Int, _ selection: Selection) {
        watchers.add(WatcherID(number), following: selection, every: nil)
        watchers.open(WatcherID(number), at: now)
    }

    @Test("receive changes of the keys that they follow")
    func selections() {
        open(1, .everything)
        open(2, .init(keys: [key("tea"), key("egg")], patterns: []))
        open(3, .init(keys: [], patterns: [pattern("t*")]))
        open(4, .init(keys: [key("egg")], patterns: [pattern("t?a")]))
        open(5, .init(keys: [], patterns: []))
        #expect(subscribers(of: "tea") == [1, 2, 3, 4])
        #expect(subscribers(of: "egg") == [1, 2, 4])
        #expect(subscribers(of: "toast") == [1, 3])
        #expect(subscribers(of: "jam") == [1])
    }

    @Test("are found once for each key that their selection contains, whatever others come and go")
    func anySelections() {
        var generator = SeededGenerator(seed: 27)
        func draw(_ alphabet: String) -> String {
            String(
                (0..<Int.random(in: 1...5, using: &generator)).compactMap { _ in
                    alphabet.randomElement(using: &generator)
                }
            )
        }
        var selections: [Int: Selection] = [:]
        for _ in 0..<3_000 {
            let number = Int.random(in: 0..<30, using: &generator)
            if Bool.random(using: &generator) {
                let texts = (0..<Int.random(in: 0...4, using: &generator)).map { _ in draw("abé?*") }
                let keys = Set((0..<Int.random(in: 0...3, using: &generator)).map { _ in key(draw("abé")) })
                let selection = Selection(keys: keys, patterns: (texts + texts.prefix(1)).map(pattern))
                selections[number] = selection
                open(number, selection)
            } else {
                selections[number] = nil
                watchers.remove(WatcherID(number))
            }
            let text = draw("abéc")
            #expect(subscribers(of: text) == selections.filter { $0.value.contains(key(text)) }.keys.sorted())
        }
        for number in selections.keys { watchers.remove(WatcherID(number)) }
        #expect(watchers.patternSteps == 0)
        #expect(watchers.isEmpty == true)
        #expect(watchers.haveSameWatchers(key("a"), key("b")) == true)
    }

    @Test("receive nothing before they are open")
    func opening() {
        watchers.add(WatcherID(1), following: .everything, every: .seconds(1))
        #expect(subscribers(of: "tea").isEmpty)
        #expect(watchers.count == 1)
        #expect(watchers.isEmpty == false)
        watchers.open(WatcherID(1), at: now)
        watchers.open(WatcherID(1), at: now)
        watchers.open(WatcherID(2), at: now)
        #expect(subscribers(of: "tea") == [1])
    }

    @Test("that are added again follow their new selection, and are not open")
    func again() {
        open(1, .everything)
        watchers.add(WatcherID(1), following: .init(keys: [key("egg")], patterns: []), every: nil)
        #expect(subscribers(of: "egg").isEmpty)
        watchers.open(WatcherID(1), at: now)
        #expect(subscribers(of: "tea").isEmpty)
        #expect(subscribers(of: "egg") == [1])
        #expect(watchers.count == 1)
    }

    @Test("with the pattern * follow everything, and are recognized as such")
    func everything() {
        #expect(Selection(keys: [key("tea")], patterns: [pattern("t*"), pattern("*")]).isEverything)
        #expect(!Selection(keys: [key("tea")], patterns: [pattern("t*")]).isEverything)
        #expect(Selection(keys: [key("tea")], patterns: []).hasKeysAlone)
        #expect(!Selection(keys: [key("tea")], patterns: [pattern("t*")]).hasKeysAlone)
        #expect(!Selection.everything.hasKeysAlone)
    }

    @Test(
        "of one key, of as many as are scheduled at once, or of more receive changes of those keys and of no others",
        arguments: [1, Limits.keysAtOnce, Limits.keysAtOnce + 1]
    )
    func manyKeys(count: Int) {
        let keys = (0..<count).map { "\($0)" }
        for number in 1...3 { open(number, Selection(keys: Set(keys.map(key)), patterns: [])) }
        watchers.remove(WatcherID(2))
        for key in keys { #expect(subscribers(of: key) == [1, 3]) }
        #expect(subscribers(of: "other").isEmpty)
        watchers.remove(WatcherID(1))
        watchers.remove(WatcherID(3))
        #expect(subscribers(of: "0").isEmpty)
        #expect(watchers.isEmpty == true)
    }

    @Test("are the same of two keys if they all follow both or neither; a pattern leaves that open")
    func sameWatchers() {
        func haveSame(_ selections: Selection..., keys one: String, _ other: String) -> Bool {
            var watchers = Watchers()
            for (number, selection) in selections.enumerated() {
                watchers.add(WatcherID(number), following: selection, every: nil)
            }
            return watchers.haveSameWatchers(key(one), key(other))
        }
        let a = Selection(keys: [key("a")], patterns: [])
        let many = Selection(keys: Set((0...Limits.keysAtOnce).map { key("key/\($0)") }), patterns: [])
        let some = Selection(keys: [key("a")], patterns: [pattern("b*")])
        #expect(haveSame(.everything, .everything, keys: "a", "b"))
        #expect(haveSame(.everything, some, keys: "a", "a"))
        #expect(!haveSame(.everything, a, keys: "a", "b") && !haveSame(.everything, a, keys: "b", "a"))
        #expect(haveSame(.everything, a, keys: "b", "c"))
        #expect(haveSame(.everything, many, keys: "a", "b") && !haveSame(.everything, many, keys: "a", "key/0"))
        #expect(!haveSame(Selection(keys: [], patterns: [pattern("a*")]), keys: "a", "b"))
    }
}
