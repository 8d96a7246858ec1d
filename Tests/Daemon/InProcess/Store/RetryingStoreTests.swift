import CountdownCore
import Fleet
import TestSupport
import Testing

@testable import countdownd

@Suite("A store that fails and recovers")
final class RetryingStoreTests {
    /// A store that accepts every commit, or refuses all with a reason.
    private final class Disk: Store {
        var failure: StoreFailure?
        private(set) var stored: [Changes] = []
        private(set) var attempts = 0
        let (bases, logPages, isBehind, isWaiting) = (0, 0, false, false)
        private(set) var hasBegun = false
        var canBegin = true
        /// So many commits succeed before the next one fails.
        var commitsLeft = Int.max

        func begin() throws(StoreFailure) {
            guard canBegin else { throw RetryingStoreTests.full }
            hasBegun = true
        }

        func commit(_ changes: Changes, comparing: Bool) throws(StoreFailure) {
            attempts += 1
            if let failure { throw failure }
            commitsLeft -= 1
            guard commitsLeft >= 0 else { throw RetryingStoreTests.full }
            stored.append(changes)
        }

        var canBeRewritten = true
        private(set) var rewrites = 0

        func check() throws(StoreFailure) {
            if let failure { throw failure }
        }

        func rewrite(
            _ timetable: borrowing Timetable,
            clockStep: ClockStep?,
            at now: Now
        ) throws(StoreFailure) -> String? {
            guard canBeRewritten else { throw StoreFailure(reason: "the directory is gone", hint: .makeDirectory) }
            rewrites += 1
            return nil
        }

        func checkWhenIdle() throws(StoreFailure) {}
        func drop(_ endings: [Revision]) {}
        private(set) var works = 0

        func work(_ timetable: inout Timetable, fleet: StoredFleet?, lines: Int, at now: BootInstant) -> Bool {
            works += 1
            return false
        }

        func close(at revision: Revision) {}
    }

    private static let full = StoreFailure(reason: "no space", hint: .makeRoom)

    private let disk = Disk()
    private let lines = Lines()
    private var storage: RetryingStore
    private let timetable = Timetable(limits: Limits(), revision: Revision(4))

    /// The store is open.
    init() throws {
        storage = RetryingStore(path: "/state/db", log: lines.log) { [disk] _ in RetryingStoreTests.opened(disk) }
        _ = try storage.open(at: instant(0))
    }

    private func instant(_ seconds: Double) -> Now {
        Now(boot: BootInstant(microseconds: Int64(seconds * 1_000_000)), offset: .zero)
    }

    private static func opened(_ disk: Disk) -> OpenedStore {
        OpenedStore(store: disk, timetable: Timetable(limits: Limits(), revision: Revision(1)))
    }

    private func ending(_ revision: Int64) throws -> Changes {
        var timetable = Timetable(limits: Limits(), revision: Revision(revision - 1))
        let request = Request.start(Request.Start(try Key("key")))
        guard case .change(let change) = try timetable.decide(request, at: instant(0)) else { return Changes() }
        timetable.apply(change)
        return Changes(steps: [change])
    }

    // MARK: The log

    @Test(
        "one line says that nothing can be stored, where, why, and what to do, even if later tries fail for other reasons"
    )
    func saysOnce() throws {
        disk.failure = Self.full
        for second in 0..<300 {
            #expect(throws: StoreFailure.self) {
                try storage.commit(Changes(), of: timetable, at: instant(Double(second)))
            }
            storage.retry(timetable, at: instant(Double(second) + 0.5))
            disk.failure = StoreFailure(reason: "reason \(second)")
            #expect(storage.failure != nil)
        }
        #expect(lines.all.count == 1)
        let line = try #require(lines.all.first)
        #expect(line.hasPrefix("error: changes cannot be stored: /state/db: no space (make room"))
    }

    @Test("one line says that it works again, after how long, and how many ends were stored late")
    func saysEnd() throws {
        disk.failure = Self.full
        for revision in 2...4 as ClosedRange<Int64> {
            #expect(throws: StoreFailure.self) { try storage.commit(ending(revision), of: timetable, at: instant(10)) }
            storage.keep(try ending(revision), of: timetable)
        }
        disk.failure = nil
        storage.retry(timetable, at: instant(75))
        for second in 76..<300 { try storage.commit(Changes(), of: timetable, at: instant(Double(second))) }
        #expect(lines.all.count == 2)
        #expect(lines.all.last == "notice: changes can be stored again, after 1 min 5 s; 3 ends stored late")
        #expect(disk.stored.first?.steps.map(\.countdown.revision.number) == [2, 3, 4])
        #expect(storage.next == nil)
    }

    @Test("a flapping store gets four lines in total")
    func flapping() throws {
        for half in 0..<2_000 {
            disk.failure = half.isMultiple(of: 2) ? Self.full : nil
            try? storage.commit(Changes(), of: timetable, at: instant(Double(half) / 2))
            storage.retry(timetable, at: instant(Double(half) / 2))
        }
        #expect(lines.all.count == 3)
        #expect(try #require(lines.all.last).hasPrefix("error: changes cannot be stored again: /state/db: no"))
        let next = try #require(storage.next as BootInstant?)
        #expect(next == instant(999.5 + 60).boot)
        storage.retry(timetable, at: Now(boot: next - Duration(microseconds: 1), offset: .zero))
        #expect(lines.all.count == 3)
        storage.retry(timetable, at: Now(boot: next, offset: .zero))
        #expect(
            lines.all.last
                == "notice: changes have been stored for a minute; before, storing failed 1000 times in 16 min 39 s"
        )
        #expect(lines.all.count == 4)
        #expect(storage.next == nil)
    }

    @Test("no base is written or takes the place of the old log while an end waits to be stored")
    func worksWhenAllIsStored() throws {
        var known = Timetable(limits: Limits(), revision: Revision(4))
        let end = try ending(7)
        _ = storage.work(&known, fleet: nil, at: instant(0))
        #expect(disk.works == 1)
        disk.failure = Self.full
        #expect(throws: StoreFailure.self) { try storage.commit(end, of: known, at: instant(1)) }
        storage.keep(end, of: known)
        disk.failure = nil
        _ = storage.work(&known, fleet: nil, at: instant(1))
        #expect(disk.works == 1)
        storage.retry(known, at: instant(10))
        _ = storage.work(&known, fleet: nil, at: instant(10))
        #expect(disk.works == 2)
    }

    @Test("a failure after a minute without failures is logged again")
    func another() throws {
        for outage in 0..<3 {
            disk.failure = Self.full
            try? storage.commit(Changes(), of: timetable, at: instant(Double(outage * 100)))
            disk.failure = nil
            try storage.commit(Changes(), of: timetable, at: instant(Double(outage * 100 + 1)))
        }
        #expect(lines.all.map { $0.prefix(5) } == ["error", "notic", "error", "notic", "error", "notic"])
        #expect(Set(lines.all).count == 2)
    }

    @Test("a store that cannot be opened is logged once, even if the reason changes")
    func unopened() throws {
        var attempts = 0
        var storage = RetryingStore(path: "/state/db", log: lines.log) { [disk] _ throws(OpenError) in
            attempts += 1
            switch attempts {
            case ..<50: throw .unavailable(StoreFailure(reason: "/state: reason \(attempts)", hint: .makeWritable))
            case ..<100: throw .held(path: "/state", holder: "process \(attempts)")
            default: return RetryingStoreTests.opened(disk)
            }
        }
        _ = try storage.open(at: instant(0))
        #expect(storage.isOpen == false)
        for second in 1..<99 {
            _ = storage.openAtLast(at: instant(Double(second)))
            #expect(storage.isOpen == false)
        }
        #expect(lines.all.count == 1)
        #expect(try #require(lines.all.first).contains("stored: /state: reason 1 (see that its user may write there)"))
        _ = storage.openAtLast(at: instant(99))
        #expect(storage.isOpen == true)
        #expect(lines.all.count == 2)
        #expect(lines.all.last == "notice: changes can be stored again, after 1 min 39 s")
    }

    @Test("the log says at the end that ends could not be stored and will be delivered again")
    func closes() throws {
        disk.failure = Self.full
        storage.keep(try ending(2), of: timetable)
        storage.close(timetable, at: instant(1))
        #expect(lines.all.last == "error: 1 end could not be stored, and will be delivered again")
    }

    @Test("however many changes wait to be stored, keeping another one copies none of them", .timeLimit(.minutes(1)))
    func keepsMany() throws {
        storage.mostUnstored = .max
        disk.failure = Self.full
        var changes = try ending(2)
        changes.fleet = FleetChanges(records: [.remove(try Key("key"))])
        for _ in 0..<200_000 { storage.keep(changes, of: timetable) }
        #expect(storage.unstoredChanges == 200_000)
    }

    // MARK: Retries

    @Test("if many records of a fleet wait to be stored, they are tried again only at the next retry")
    func waitsWithRecords() throws {
        disk.failure = Self.full
        try? storage.commit(Changes(), of: timetable, at: instant(0))
        let records = try (1...2_000).map { Member.RecordChange.remove(try Key("\($0)")) }
        storage.keep(Changes(fleet: FleetChanges(records: records, position: .some(nil))), of: timetable)
        for _ in 0..<10 { try? storage.commit(Changes(), of: timetable, at: instant(0.5)) }
        #expect(disk.attempts == 1)
        disk.failure = nil
        storage.retry(timetable, at: instant(1))
        #expect(disk.stored.flatMap { $0.fleet?.records ?? [] } == records)
        // The position counts only if all of them are stored.
        #expect(disk.stored.map { $0.fleet?.position != nil } == [false, true])
    }

    @Test("kept ends are stored in parts, and no part is stored again after a later one has failed")
    func parts() throws {
        disk.failure = Self.full
        try? storage.commit(Changes(), of: timetable, at: instant(0))
        for revision in 2...3_001 as ClosedRange<Int64> { storage.keep(try ending(revision), of: timetable) }
        (disk.failure, disk.commitsLeft) = (nil, 1)
        storage.retry(timetable, at: instant(1))
        var left = storage.unstoredChanges
        #expect((1...2_900).contains(left))
        disk.commitsLeft = .max
        storage.retry(timetable, at: instant(3))
        #expect(disk.stored.flatMap(\.steps).map(\.countdown.revision.number) == Array(2...3_001))
        #expect(disk.stored.allSatisfy { $0.steps.count <= 1_500 })
        left = storage.unstoredChanges
        #expect(left == 0)
        #expect(lines.all.last == "notice: changes can be stored again, after 3 s; 3000 ends stored late")
    }

    @Test("a store that is open and cannot be written to gives no revisions until it can")
    func cannotBegin() throws {
        disk.canBegin = false
        var storage = RetryingStore(path: "/state/db", log: lines.log) { [disk = Disk()] _ in
            disk.canBegin = false
            return RetryingStoreTests.opened(disk)
        }
        _ = try storage.open(at: instant(0))
        let (isOpen, gives) = (storage.isOpen, storage.givesRevisions)
        #expect(isOpen && !gives)
        #expect(throws: StoreFailure.self) { try storage.commit(Changes(), of: timetable, at: instant(1)) }
        #expect(
            try #require(lines.all.last).hasPrefix("error: changes cannot be stored: /state/db: no space (make room")
        )
    }

    @Test("if there are too many changes, and more than countdowns, the store is written again instead")
    func givesUp() throws {
        storage.mostUnstored = 10
        disk.failure = Self.full
        try? storage.commit(Changes(), of: timetable, at: instant(0))
        var changes = try ending(2)
        changes.fleet = FleetChanges(records: [.remove(try Key("key"))])
        for _ in 0..<12 { storage.keep(changes, of: timetable) }
        var count = storage.unstoredChanges
        #expect(count == 12)
        try? storage.commit(changes, of: timetable, at: instant(0.5))
        #expect(disk.rewrites == 0)
        disk.canBeRewritten = false
        storage.retry(timetable, at: instant(1))
        var failure = storage.failure
        #expect(failure?.reason == "/state/db lacks 12 changes, and the directory is gone")
        disk.canBeRewritten = true
        storage.retry(timetable, at: instant(3))
        #expect(disk.rewrites == 1)
        #expect(disk.stored.isEmpty)
        (failure, count) = (storage.failure, storage.unstoredChanges)
        #expect(failure == nil)
        #expect(count == 0)
        let readsFleetAgain = storage.hasLostFleet
        #expect(readsFleetAgain)
        #expect(lines.all.last == "notice: changes can be stored again, after 3 s; 12 ends stored late")
    }

    @Test("as many changes as there are countdowns are kept")
    func keepsAll() throws {
        storage.mostUnstored = 10
        disk.failure = Self.full
        var many = Timetable(limits: Limits(), revision: Revision(1))
        for number in 0..<20 {
            let request = Request.start(Request.Start(try Key("key/\(number)")))
            guard case .change(let change) = try many.decide(request, at: instant(0)) else { continue }
            many.apply(change)
        }
        let change = try ending(2)
        for _ in 0..<20 { storage.keep(change, of: many) }
        disk.failure = nil
        try storage.commit(Changes(), of: many, at: instant(1))
        #expect(disk.stored.map(\.steps.count) == [20])
        #expect(disk.rewrites == 0)
    }

    @Test("it is tried again after a second, then after twice as long each time, up to a minute")
    func pauses() throws {
        disk.failure = Self.full
        try? storage.commit(Changes(), of: timetable, at: instant(0))
        var tries: [Double] = []
        while tries.count < 9, let next = storage.next {
            tries.append(Double(next.microseconds) / 1_000_000)
            // A turn in between fails too, and delays no retry.
            try? storage.commit(
                Changes(),
                of: timetable,
                at: Now(boot: next - Duration(microseconds: 1), offset: .zero)
            )
            #expect(storage.next == next)
            storage.retry(timetable, at: Now(boot: next, offset: .zero))
        }
        #expect(tries == [1, 3, 7, 15, 31, 63, 123, 183, 243])
        disk.failure = nil
        storage.retry(timetable, at: instant(500))
        #expect(storage.failure == nil)
        #expect(storage.next == nil)
    }

    @Test("the newest step of the clock is stored with what comes after it")
    func step() throws {
        disk.failure = Self.full
        for hour in 1...2 as ClosedRange<Int64> {
            let step = ClockStep(offset: .seconds(3_600 * hour), revision: Revision(1))
            storage.keep(Changes(steps: [], clockStep: step), of: timetable)
        }
        disk.failure = nil
        try storage.commit(Changes(), of: timetable, at: instant(1))
        #expect(disk.stored.last?.clockStep?.offset == .seconds(7_200))
    }

    // MARK: Lost files

    private static let lost = StoreFailure(reason: "/state/db was removed", hint: .leaveFilesAlone, isOfFiles: true)

    @Test("a store whose files are lost is written again at once, with one log line, and no change is refused")
    func rewritten() throws {
        disk.failure = Self.lost
        try storage.commit(ending(2), of: timetable, at: instant(1))
        #expect(disk.rewrites == 1)
        #expect(storage.failure == nil)
        #expect(lines.all.count == 1)
        #expect(try #require(lines.all.first).hasPrefix("error: /state/db was removed (stop countdownd before"))
    }

    @Test("a store that is lost again and again is written at most once a second")
    func rewrittenSeldom() throws {
        disk.failure = Self.lost
        for tenth in 0..<100 { try? storage.commit(Changes(), of: timetable, at: instant(Double(tenth) / 10)) }
        #expect((5...10).contains(disk.rewrites))
    }

    @Test("if it cannot be written again, it fails with the reason until it can")
    func notRewritten() throws {
        (disk.failure, disk.canBeRewritten) = (Self.lost, false)
        #expect(throws: StoreFailure.self) { try storage.commit(Changes(), of: timetable, at: instant(1)) }
        #expect(storage.failure?.reason == "/state/db was removed, and the directory is gone")
        #expect(try #require(lines.all.last).contains("make the directory again"))
        disk.canBeRewritten = true
        storage.retry(timetable, at: instant(2))
        #expect(storage.failure == nil)
        #expect(lines.all.last == "notice: changes can be stored again, after 1 s")
    }

    @Test("a store whose files are lost is written again before the daemon stops")
    func rewrittenAtTheEnd() throws {
        disk.failure = Self.lost
        // However recently it was written again.
        try storage.commit(ending(2), of: timetable, at: instant(1))
        storage.close(timetable, at: instant(1))
        #expect(disk.rewrites == 2)
    }
}
