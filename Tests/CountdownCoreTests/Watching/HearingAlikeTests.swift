import CountdownCore
import Testing

@Suite("Keys that are heard of alike")
struct HearingAlikeTests {
    private let now = Now(boot: BootInstant(microseconds: 0), offset: .zero)

    private func watchers(_ selections: Selection...) -> Watchers {
        var watchers = Watchers()
        for (number, selection) in selections.enumerated() {
            watchers.add(WatcherID(number), following: selection, every: nil)
        }
        return watchers
    }

    @Test("all keys, where everybody follows everything")
    func everything() {
        #expect(watchers(.everything, .everything).haveSameWatchers(key("a"), key("b")) == true)
    }

    @Test("a key and itself, whoever follows it")
    func itself() throws {
        let some = Selection(keys: [key("a")], patterns: [try Pattern("b*")])
        #expect(watchers(.everything, some).haveSameWatchers(key("a"), key("a")) == true)
    }

    @Test("not a key that somebody follows and one that he does not")
    func followed() {
        let watchers = watchers(.everything, Selection(keys: [key("a")], patterns: []))
        #expect(watchers.haveSameWatchers(key("a"), key("b")) == false)
        #expect(watchers.haveSameWatchers(key("b"), key("a")) == false)
        #expect(watchers.haveSameWatchers(key("b"), key("c")) == true)
    }

    @Test("not two keys, where somebody has a pattern")
    func patterns() throws {
        #expect(
            watchers(Selection(keys: [], patterns: [try Pattern("a*")])).haveSameWatchers(key("a"), key("b")) == false
        )
    }
}
