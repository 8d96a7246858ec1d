import CountdownCore
import Testing

@Suite("A watcher of many keys")
struct ManyKeysTests {
    private let now = Now(boot: BootInstant(microseconds: 0), offset: .zero)

    @Test(
        "receives changes of those keys and of no others, few or many",
        arguments: [1, Limits.keysAtOnce, Limits.keysAtOnce + 1]
    )
    func hears(count: Int) {
        var watchers = Watchers()
        let keys = (0..<count).map { key("\($0)") }
        for number in 1...3 {
            watchers.add(WatcherID(number), following: Selection(keys: Set(keys), patterns: []), every: nil)
            watchers.open(WatcherID(number), at: now)
        }
        watchers.remove(WatcherID(2))
        for key in keys {
            let hearers = hearers(of: key, among: watchers)
            #expect(hearers == [WatcherID(1), WatcherID(3)])
        }
        let hearersOfOther = hearers(of: key("other"), among: watchers)
        #expect(hearersOfOther.isEmpty)
        watchers.remove(WatcherID(1))
        watchers.remove(WatcherID(3))
        let hearersAfter = hearers(of: key("0"), among: watchers)
        #expect(hearersAfter.isEmpty)
        #expect(watchers.isEmpty == true)
    }

    private func hearers(of key: Key, among watchers: borrowing Watchers) -> Set<WatcherID> {
        var hearers: Set<WatcherID> = []
        watchers.forEachWatcher(of: key) { hearers.insert($0) }
        return hearers
    }
}
