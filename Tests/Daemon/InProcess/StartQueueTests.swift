import CountdownCore
import Glibc
import System
import Testing
import Varlink

@testable import countdownd

@Suite("The calls in the queue of starts")
struct StartQueueTests {
    private var queue = StartQueue()
    private let tea: Key
    private let egg: Key
    private let now = Now(boot: BootInstant(microseconds: 1_000), offset: Duration(microseconds: 500_000))

    init() throws {
        tea = try Key("tea")
        egg = try Key("egg")
    }

    private func connection(_ token: UInt64) throws -> Connection {
        Connection(
            socket: try Descriptor(owning: dup(0), of: "dup"),
            token: token,
            of: 0,
            totals: ConnectionTotals(),
            session: ServerSession(service: Translation.service, messageLimit: 1_000)
        )
    }

    private func first(_ key: Key) -> UInt64? { queue.calls(for: key).first?.connection.token }

    @Test("keep the order of arrival for each key")
    mutating func order() throws {
        for token in 1...4 as ClosedRange<UInt64> {
            _ = queue.append(try connection(token), for: token.isMultiple(of: 2) ? egg : tea)
        }
        #expect(queue.count == 4)
        #expect(first(tea) == 1)
        #expect(first(egg) == 2)
        queue.removeFirst(for: tea)
        #expect(first(tea) == 3)
        queue.removeFirst(for: tea)
        #expect(first(tea) == nil)
        #expect(queue.calls(for: tea).isEmpty)
        #expect(queue.count == 2)
        #expect(queue.removeAll(for: egg).map(\.connection.token) == [2, 4])
        #expect(queue.isEmpty)
    }

    @Test("mark the key if the first one leaves, and not if another one does")
    mutating func leaving() throws {
        let numbers = try (1...3).map { queue.append(try connection($0), for: tea) }
        queue.remove(numbers[1], for: tea)
        #expect(queue.markedCount == 0)
        queue.remove(numbers[1], for: tea)
        #expect(queue.count == 2)
        queue.remove(numbers[0], for: tea)
        #expect(queue.takeMarked() == [tea])
        #expect(first(tea) == 3)
        queue.remove(numbers[2], for: tea)
        #expect(queue.isEmpty)
        #expect(queue.markedCount == 0)
    }

    @Test("can be put back, in any order")
    mutating func putBack() throws {
        for token in 1...3 as ClosedRange<UInt64> { _ = queue.append(try connection(token), for: tea) }
        let calls = queue.removeAll(for: tea)
        for index in [1, 2, 0] { queue.insert(calls[index], for: tea) }
        #expect(queue.removeAll(for: tea).map(\.connection.token) == [1, 2, 3])
    }

    @Test("are marked once, and those without calls never")
    mutating func marks() throws {
        queue.mark(tea)
        #expect(queue.markedCount == 0)
        _ = queue.append(try connection(1), for: tea)
        _ = queue.append(try connection(2), for: egg)
        for key in [tea, egg, tea] { queue.mark(key) }
        #expect(queue.takeMarked() == [tea, egg])
        #expect(queue.takeMarked().isEmpty)
    }

    @Test("become due on the clock of their countdown, so a clock step moves those on the system clock")
    mutating func dues() throws {
        _ = queue.append(try connection(1), for: tea)
        _ = queue.append(try connection(2), for: egg)
        #expect(queue.next(at: now) == nil)
        queue.setDue(.elapsed(BootInstant(microseconds: 3_000)), for: tea)
        queue.setDue(.wall(WallInstant(microseconds: 502_000)), for: egg)
        #expect(queue.next(at: now) == WallInstant(microseconds: 502_000))
        // The system clock is set back by 100 ms.
        let back = Now(boot: now.boot, offset: Duration(microseconds: 400_000))
        #expect(queue.next(at: back) == WallInstant(microseconds: 403_000))
        queue.markDue(at: Now(boot: BootInstant(microseconds: 3_000), offset: back.offset))
        #expect(queue.takeMarked() == [tea])
        // It is set forward again.
        queue.markDue(at: Now(boot: BootInstant(microseconds: 3_000), offset: now.offset))
        #expect(queue.takeMarked() == [egg])
        #expect(queue.next(at: now) == nil)
    }

    @Test("are due at one instant, the last one that was set, and never once they have left")
    mutating func oneDue() throws {
        let number = queue.append(try connection(1), for: tea)
        queue.setDue(.elapsed(BootInstant(microseconds: 3_000)), for: tea)
        queue.setDue(.wall(WallInstant(microseconds: 505_000)), for: tea)
        #expect(queue.next(at: now) == WallInstant(microseconds: 505_000))
        queue.setDue(.elapsed(BootInstant(microseconds: 9_000)), for: tea)
        #expect(queue.next(at: now) == WallInstant(microseconds: 509_000))
        queue.remove(number, for: tea)
        #expect(queue.next(at: now) == nil)
    }
}
