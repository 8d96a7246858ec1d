import CountdownCore
import Foundation
import TestSupport
import Testing

@testable import countdownd

/// Whatever a disk does to the files, it either is what SQLite reads in them that is served, or they are kept aside.
@Suite("A store that was damaged")
struct DamageTests {
    private static let page = 1_024
    private static let frame = 24 + page
    private static let logHeader = 32

    private let store: SampleStore

    init() throws {
        store = try SampleStore.made.get()
    }

    @Test("is one with all kinds of rows, in some fifty pages and a log that has as many")
    func sample() throws {
        #expect((40...80).contains(store.whole.count / Self.page))
        #expect((store.log.count - Self.logHeader) / Self.frame > 40)
        let undamaged = try DamagedStore(database: store.whole).open()
        #expect(undamaged == .served(rows: store.rows, leftOut: 0))
        #expect(try DamagedStore(database: store.older, log: store.log).open() == .served(rows: store.rows, leftOut: 0))
    }

    @Test("by being cut off, at each page and in the midst of it")
    func cutOff() throws {
        for length in stride(from: 0, to: store.whole.count, by: Self.page) {
            for odd in length == 0 ? [1, 99, 511] : [0, 511] {
                // What is missing of the last page alone is read as zeros.
                let isKept = length + odd <= store.whole.count - Self.page ? true : nil
                try DamagedStore(database: store.whole.prefix(length + odd)).expect(keptAside: isKept)
            }
        }
    }

    @Test("by pages that hold something else")
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

    @Test("by a bit here and there", arguments: 0..<4 as Range<UInt64>)
    func flipped(part: UInt64) throws {
        var generator = SeededGenerator(seed: part)
        for number in 0..<125 {
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

    @Test("by a log that is cut off, at each frame and in the midst of it, is what was stored before")
    func logCutOff() throws {
        for length in stride(from: Self.logHeader, through: store.log.count, by: Self.frame) {
            for odd in [-1, 0, 700] where length + odd <= store.log.count {
                try DamagedStore(database: store.older, log: store.log.prefix(length + odd)).expect(keptAside: false)
            }
        }
    }

    @Test("by a log in which a bit is wrong, is what was stored before that", arguments: 0..<2 as Range<UInt64>)
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

    @Test("by the loss of its database, is kept; by that of its log, is what had been taken in from it")
    func halves() throws {
        try DamagedStore(database: nil, log: store.log).expect(keptAside: true)
        try DamagedStore(database: Data(), log: store.log).expect(keptAside: true)
        #expect(try DamagedStore(database: store.older).open() == .served(rows: store.rowsOfOlder, leftOut: 0))
    }
}
