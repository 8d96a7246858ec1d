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

        /// Whether an answer is right for one moment: the countdowns in the order of their last change, or the soonest.
        func has(_ answer: [IPC.Countdown], to list: List) -> Bool {
            states.contains { state in
                var all = state.filter { list.keys?.contains($0.key) ?? (list.match == nil || $0.key.hasPrefix("1")) }
                if let soonest = list.soonest {
                    all.sort { ($0.deadlineUSec ?? 0, $0.revision) < ($1.deadlineUSec ?? 0, $1.revision) }
                    all = Array(all.prefix(Int(soonest)))
                }
                return all.map(\.revision) == answer.map(\.revision)
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

    private static let few = ["1", "2", "3", "5", "7", "11"]

    @Test(
        "whatever it is about, it has each countdown once, in the order of the last change, or the ones that end first",
        arguments: [
            List(), List(keys: few), List(keys: few, soonest: 2), List(soonest: 1), List(soonest: 2), List(soonest: 12),
            List(match: ["1*"], soonest: 2),
        ]
    )
    func onePage(list: List) throws {
        let (answers, history) = try answers(to: list)
        for answer in answers { #expect(history.has(answer, to: list)) }
    }

    @Test("an answer of several pages is of one moment too", arguments: [List(soonest: 12), List(keys: keys)])
    func pages(list: List) throws {
        let (answers, history) = try answers(to: list, pageBytes: 1)
        for answer in answers { #expect(history.has(answer, to: list)) }
    }
}
