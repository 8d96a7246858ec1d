import IPC
import Testing

@testable import countdown_notify

@Suite("The endings that are to be told")
struct BacklogTests {
    private func backlog(_ count: Int) -> Backlog {
        var backlog = Backlog()
        for number in 0..<count { backlog.append(ended("key\(number)", revision: Int64(number))) }
        return backlog
    }

    @Test("up to three are told one by one, the oldest first")
    func oneByOne() {
        var backlog = backlog(3)
        var told: [String] = []
        while case .ending(let countdown)? = backlog.next {
            told.append(countdown.key)
            backlog.remove(.ending(countdown))
        }
        #expect(told == ["key0", "key1", "key2"])
        #expect(backlog.isEmpty)
    }

    @Test("more are told in one, the newest ten by name, whatever their number")
    func inOne() {
        guard case .endings(let newest, let count)? = backlog(5_000).next else { return #expect(Bool(false)) }
        #expect(count == 5_000)
        #expect(newest.map(\.revision) == Array(4_990..<5_000))
        let notification = Telling.endings(newest: newest, count: count).notification(.at(0))
        #expect(notification.summary == "5000 countdowns have ended")
        let lines = notification.body.split(separator: "\n")
        #expect(lines.first == "4990 earlier ones")
        #expect(lines.last == "key4999, 00:00")
        #expect(notification.actions == [.dismiss])
    }

    @Test("what came while some were being told is told next, and none twice")
    func meanwhile() throws {
        var backlog = backlog(1)
        let first = try #require(backlog.next)
        for number in 1..<30 { backlog.append(ended("key\(number)", revision: Int64(number))) }
        backlog.remove(first)
        let second = try #require(backlog.next)
        #expect(second.count == 29 && second.revision == 29)
        backlog.append(ended("last", revision: 30))
        backlog.remove(second)
        #expect(backlog.next == .ending(ended("last", revision: 30)))
        #expect(backlog.waiting == 1)
    }

    @Test("that endings may have been missed is told before those that were not")
    func gap() {
        var backlog = backlog(1)
        backlog.noteGap()
        #expect(backlog.next == .gap)
        backlog.remove(.gap)
        #expect(backlog.next == .ending(ended("key0", revision: 0)))
        #expect(Telling.gap.notification(.at(0)).actions.isEmpty)
    }
}
