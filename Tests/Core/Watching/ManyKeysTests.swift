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
            let subscribers = subscribers(of: key, among: watchers)
            #expect(subscribers == [WatcherID(1), WatcherID(3)])
        }
        let subscribersOfOther = subscribers(of: key("other"), among: watchers)
        #expect(subscribersOfOther.isEmpty)
        watchers.remove(WatcherID(1))
        watchers.remove(WatcherID(3))
        let subscribersAfter = subscribers(of: key("0"), among: watchers)
        #expect(subscribersAfter.isEmpty)
        #expect(watchers.isEmpty == true)
    }

    private func subscribers(of key: Key, among watchers: borrowing Watchers) -> Set<WatcherID> {
        var subscribers: Set<WatcherID> = []
        watchers.forEachWatcher(of: key) { subscribers.insert($0) }
        return subscribers
    }
}
