import CountdownCore
import Testing

@Suite("Keys with the same watchers")
struct SameWatchersTests {
    private let now = Now(boot: BootInstant(microseconds: 0), offset: .zero)

    private func watchers(_ selections: Selection...) -> Watchers {
        var watchers = Watchers()
        for (number, selection) in selections.enumerated() {
            watchers.add(WatcherID(number), following: selection, every: nil)
        }
        return watchers
    }

    @Test("all keys, if every watcher follows everything")
    func everything() {
        #expect(watchers(.everything, .everything).haveSameWatchers(key("a"), key("b")) == true)
    }

    @Test("a key and itself, whatever is followed")
    func itself() throws {
        let some = Selection(keys: [key("a")], patterns: [try Pattern("b*")])
        #expect(watchers(.everything, some).haveSameWatchers(key("a"), key("a")) == true)
    }

    @Test("not a key that a watcher follows and one that it does not")
    func followed() {
        let watchers = watchers(.everything, Selection(keys: [key("a")], patterns: []))
        #expect(watchers.haveSameWatchers(key("a"), key("b")) == false)
        #expect(watchers.haveSameWatchers(key("b"), key("a")) == false)
        #expect(watchers.haveSameWatchers(key("b"), key("c")) == true)
    }

    @Test("two keys that are not among the many keys of a watcher")
    func manyKeys() {
        let many = Selection(keys: Set((0...Limits.keysAtOnce).map { key("key/\($0)") }), patterns: [])
        #expect(watchers(.everything, many).haveSameWatchers(key("a"), key("b")) == true)
        #expect(watchers(.everything, many).haveSameWatchers(key("a"), key("key/0")) == false)
    }

    @Test("not two keys if a watcher has a pattern")
    func patterns() throws {
        #expect(
            watchers(Selection(keys: [], patterns: [try Pattern("a*")])).haveSameWatchers(key("a"), key("b")) == false
        )
    }
}
