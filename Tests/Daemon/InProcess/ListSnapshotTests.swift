import CountdownCore
import IPC
import TestSupport
import Testing
import Varlink

@testable import countdownd

/// Lists while one client restarts countdowns all the time, in turns that do very little each.
@Suite("A list is of one moment")
struct ListSnapshotTests {
    private static let keys = (0..<12).map { "\($0)" }

    /// The countdowns after each change, as the replies to the client that made them tell.
    private struct History {
        private var states: [[IPC.Countdown]] = []

        mutating func append(_ countdown: IPC.Countdown) {
            let before = states.last ?? []
            states.append(before.filter { $0.key != countdown.key } + [countdown])
        }

        /// Whether a list is what was there at any moment: the countdowns in the order of their last change.
        func has(_ list: [IPC.Countdown], of wanted: (IPC.Countdown) -> Bool = { _ in true }) -> Bool {
            states.contains { $0.filter(wanted).map(\.revision) == list.map(\.revision) }
        }

        /// Whether a list is what ended first at any moment.
        func has(soonest list: [IPC.Countdown], count: Int, of wanted: (IPC.Countdown) -> Bool = { _ in true }) -> Bool
        {
            states.contains { state in
                let order = state.filter(wanted).sorted {
                    ($0.deadlineUSec ?? 0, $0.revision) < ($1.deadlineUSec ?? 0, $1.revision)
                }
                return order.prefix(count).map(\.revision) == list.map(\.revision)
            }
        }
    }

    /// The answers to lists that are asked for while countdowns are restarted, with what was there.
    private func answers(
        to list: List,
        pageBytes: Int = 65_536
    ) throws -> ([[IPC.Countdown]], History) {
        let daemon = try SmallDaemon {
            $0.callsInTurn = 2
            $0.callsOfConnectionInTurn = 1
            $0.entriesInTurn = 1
            $0.pageBytes = pageBytes
        }
        let (writer, reader) = (try daemon.caller(), try daemon.caller())
        var history = History()
        for key in Self.keys { history.append(try writer.call(Start(key: key)).countdown) }
        var generator = SeededGenerator(seed: 7)
        let restarts = 200
        for _ in 0..<restarts {
            let key = Self.keys[Int.random(in: Self.keys.indices, using: &generator)]
            let duration = Int64.random(in: 1_000_000_000...9_000_000_000, using: &generator)
            try writer.send(Start(key: key, durationUSec: duration, ifRunning: .restart))
        }
        var answers: [[IPC.Countdown]] = []
        for _ in 0..<10 { answers.append(try reader.call(all: list).flatMap(\.countdowns)) }
        for _ in 0..<restarts { history.append(try writer.answer(to: Start.self).value.countdown) }
        return (answers, history)
    }

    @Test("the countdowns of some keys are in the order of their last change")
    func keys() throws {
        let some: Set<String> = ["1", "2", "3", "5", "7", "11"]
        let (answers, history) = try answers(to: List(keys: Array(some)))
        for answer in answers { #expect(history.has(answer) { some.contains($0.key) }) }
    }

    @Test("the soonest of some keys are the ones that end first")
    func soonestOfKeys() throws {
        let some: Set<String> = ["1", "2", "3", "5", "7", "11"]
        let (answers, history) = try answers(to: List(keys: Array(some), soonest: 2))
        for answer in answers { #expect(history.has(soonest: answer, count: 2) { some.contains($0.key) }) }
    }

    @Test("the soonest of all are the ones that end first", arguments: [1, 2, 12])
    func soonest(count: Int) throws {
        let (answers, history) = try answers(to: List(soonest: Int64(count)))
        for answer in answers { #expect(history.has(soonest: answer, count: count)) }
    }

    @Test("the soonest of a pattern are the ones that end first")
    func soonestOfPattern() throws {
        let (answers, history) = try answers(to: List(match: ["1*"], soonest: 2))
        for answer in answers { #expect(history.has(soonest: answer, count: 2) { $0.key.hasPrefix("1") }) }
    }

    @Test("a list that fits one reply has each countdown once, in the order of their last change")
    func all() throws {
        let (answers, history) = try answers(to: List())
        for answer in answers { #expect(history.has(answer)) }
    }

    @Test("an answer of several pages is of one moment too", arguments: [true, false])
    func pages(isSoonest: Bool) throws {
        let list = isSoonest ? List(soonest: 12) : List(keys: Self.keys)
        let (answers, history) = try answers(to: list, pageBytes: 1)
        for answer in answers {
            #expect(isSoonest ? history.has(soonest: answer, count: 12) : history.has(answer))
        }
    }
}
