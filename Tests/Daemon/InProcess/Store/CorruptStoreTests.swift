import CountdownCore
import Foundation
import TestSupport
import Testing

@testable import countdownd

/// Whatever a disk does to the files, it either is what SQLite reads in them that is served, or they are kept aside.
@Suite("A corrupt store")
struct CorruptStoreTests {
    private static let page = 1_024
    private static let frame = 24 + page
    private static let logHeader = 32

    private let store: SampleStore

    init() throws {
        store = try SampleStore.made.get()
    }

    @Test("the sample has all kinds of rows, in about fifty pages and as many frames of the log")
    func sample() throws {
        #expect((40...80).contains(store.whole.count / Self.page))
        #expect((store.log.count - Self.logHeader) / Self.frame > 40)
        let undamaged = try DamagedStore(database: store.whole).open()
        #expect(undamaged == .served(rows: store.rows, skipped: 0))
        #expect(try DamagedStore(database: store.older, log: store.log).open() == .served(rows: store.rows, skipped: 0))
    }

    @Test("a database that is truncated at or within any page is served or quarantined")
    func cutOff() throws {
        for length in stride(from: 0, to: store.whole.count, by: Self.page) {
            for odd in length == 0 ? [1, 99, 511] : [0, 511] {
                // What is missing of the last page alone is read as zeros.
                let isKept = length + odd <= store.whole.count - Self.page ? true : nil
                try DamagedStore(database: store.whole.prefix(length + odd)).expect(keptAside: isKept)
            }
        }
    }

    @Test("a database with overwritten pages is served or quarantined")
    func overwritten() throws {
        var generator = SeededGenerator(seed: 1)
        for place in stride(from: 0, to: store.whole.count, by: Self.page) {
            let random = (0..<Self.page).map { _ in UInt8.random(in: 0...255, using: &generator) }
            for contents in [random, [UInt8](repeating: 0, count: Self.page)] {
                var database = store.whole
                database.replaceSubrange(place..<place + Self.page, with: contents)
                try DamagedStore(database: database).expect()
            }
        }
    }

    @Test("a database with flipped bits is served or quarantined", arguments: 0..<2 as Range<UInt64>)
    func flipped(part: UInt64) throws {
        var generator = SeededGenerator(seed: part)
        for number in 0..<100 {
            var database = store.whole
            // The headers of the file and of its pages are worth more than their share.
            let page = Int.random(in: 0..<database.count / Self.page, using: &generator) * Self.page
            let place =
                switch number % 5 {
                case 0: Int.random(in: 0..<116, using: &generator)
                case 1: page + Int.random(in: 0..<40, using: &generator)
                default: page + Int.random(in: 0..<Self.page, using: &generator)
                }
            database[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            try DamagedStore(database: database).expect()
        }
    }

    @Test("a log that is truncated at or within any frame gives the state of an earlier commit")
    func logCutOff() throws {
        for length in stride(from: Self.logHeader, through: store.log.count, by: Self.frame) {
            for odd in [-1, 0, 700] where length + odd <= store.log.count {
                try DamagedStore(database: store.older, log: store.log.prefix(length + odd)).expect(keptAside: false)
            }
        }
    }

    @Test("a log with a flipped bit gives the state of an earlier commit", arguments: 0..<1 as Range<UInt64>)
    func logFlipped(part: UInt64) throws {
        var generator = SeededGenerator(seed: part)
        for number in 0..<50 {
            var log = store.log
            let header = Self.logHeader + Self.frame * Int.random(in: 0..<log.count / Self.frame, using: &generator)
            let place =
                switch number % 3 {
                case 0: Int.random(in: 0..<Self.logHeader, using: &generator)
                case 1: header + Int.random(in: 0..<24, using: &generator)
                default: Int.random(in: 0..<log.count, using: &generator)
                }
            log[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            try DamagedStore(database: store.older, log: log).expect(keptAside: false)
        }
    }

    @Test(
        "a log without its database is quarantined; a database without its log has everything up to the last checkpoint"
    )
    func halves() throws {
        try DamagedStore(database: nil, log: store.log).expect(keptAside: true)
        try DamagedStore(database: Data(), log: store.log).expect(keptAside: true)
        #expect(try DamagedStore(database: store.older).open() == .served(rows: store.rowsOfOlder, skipped: 0))
    }
}
