import IPC
import TestSupport
import Testing
import Varlink

@Suite("Listing")
final class ListTests: SmallDaemonSuite {
    private func keys(_ list: List) throws -> [String] {
        try caller.call(list).countdowns.map(\.key)
    }

    /// Running "r1" and "r2", paused "p", finished "f" and cancelled "c".
    private func startSome() throws {
        for key in ["r1", "f", "p", "c", "r2"] { _ = try caller.call(Start(key: key)) }
        _ = try caller.call(Pause(key: "p"))
        _ = try caller.call(Finish(key: "f"))
        _ = try caller.call(Cancel(key: "c"))
    }

    @Test("without states, running and paused countdowns are listed, in the order of their last change")
    func lastChange() throws {
        try startSome()
        #expect(try keys(List()) == ["r1", "r2", "p"])
        _ = try caller.call(Adjust(key: "r1", byUSec: 1))
        #expect(try keys(List()) == ["r2", "p", "r1"])
        _ = try caller.call(Start(key: "r2"))
        #expect(try keys(List()) == ["r2", "p", "r1"], "attaching is no change")
    }

    @Test(
        "with states, the countdowns in one of them are listed",
        arguments: [
            ([.running], ["r1", "r2"]), ([.paused], ["p"]), ([.finished], ["f"]), ([.cancelled], ["c"]),
            ([.finished, .cancelled], ["f", "c"]), ([.cancelled, .running], ["r1", "r2", "c"]), ([], []),
            (Countdown.State.allCases, ["r1", "r2", "p", "f", "c"]),
        ] as [([Countdown.State], [String])]
    )
    func states(_ states: [Countdown.State], _ expected: [String]) throws {
        try startSome()
        #expect(try keys(List(states: states)) == expected)
    }

    @Test("a key has one countdown, whatever ended under it before")
    func oneForEachKey() throws {
        for _ in 0..<3 {
            _ = try caller.call(Start(key: "tea"))
            _ = try caller.call(Cancel(key: "tea"))
        }
        #expect(try keys(List(states: Countdown.State.allCases)) == ["tea"])
        _ = try caller.call(Start(key: "tea"))
        #expect(try caller.call(List(states: Countdown.State.allCases)).countdowns.map(\.state) == [.running])
        #expect(try keys(List(states: [.cancelled])) == [])
    }

    @Test("soonest returns those that end first, in that order, then paused ones by their remaining time")
    func soonest() throws {
        for (key, seconds) in [("c", 300), ("a", 100), ("q", 20), ("b", 200), ("p", 10)] as [(String, Int64)] {
            _ = try caller.call(Start(key: key, durationUSec: .seconds(seconds)))
        }
        for key in ["p", "q"] { _ = try caller.call(Pause(key: key)) }
        #expect(try keys(List(soonest: 10)) == ["a", "b", "c", "p", "q"])
        #expect(try keys(List(soonest: 2)) == ["a", "b"])
        #expect(try keys(List(soonest: 1)) == ["a"])
        #expect(try keys(List(soonest: 0)) == [])
        #expect(try keys(List(match: ["[bcq]"], soonest: 2)) == ["b", "c"])
        #expect(try keys(List(states: [.paused], soonest: 1)) == ["p"])
    }

    /// Starts enough countdowns for several pages.
    private func startMany(_ count: Int) throws -> [String] {
        let keys = (0..<count).map { "many/\($0)" }
        for key in keys { try caller.send(Start(key: key)) }
        for _ in keys { _ = try caller.answer(to: Start.self) }
        return keys
    }

    @Test("with more, many countdowns come page by page, none twice and none missing")
    func pages() throws {
        let started = try startMany(1_000)
        let pages = try caller.call(all: List())
        #expect(pages.count > 2)
        #expect(pages.flatMap(\.countdowns).map(\.key) == started)
        #expect(try caller.call(all: List(match: ["many/99?"])).count == 1)
    }

    @Test("without more, many are refused, and few are listed")
    func expectedMore() throws {
        let started = try startMany(1_000)
        #expect(throws: ServiceError.expectedMore) { try caller.call(List()) }
        #expect(throws: ServiceError.expectedMore) { try caller.call(List(keys: started)) }
        #expect(throws: ServiceError.expectedMore) { try caller.call(List(soonest: 1_000)) }
        #expect(try keys(List(soonest: 3)) == Array(started.prefix(3)))
        #expect(try keys(List(keys: ["many/5", "many/3"])) == ["many/3", "many/5"])
    }

    @Test("a countdown that changes while the pages are read is listed again, and none is missed")
    func changesMeanwhile() throws {
        let started = try startMany(2_000)
        let reader = try Caller(of: daemon)
        try reader.send(List(), more: true)
        var pages = [try reader.answer(to: List.self)]
        // The other pages are not read meanwhile, so the daemon has to stop in the middle.
        for key in started.reversed() where key.hasSuffix("7") { _ = try caller.call(Adjust(key: key, byUSec: 1)) }
        _ = try caller.call(Cancel(key: "many/1999"))
        _ = try caller.call(Start(key: "new"))
        while pages.last?.continues == true { pages.append(try reader.answer(to: List.self)) }
        let told = pages.flatMap(\.value.countdowns)
        #expect(Set(told.map(\.key)).isSuperset(of: started.dropLast()))
        let revisions = told.map(\.revision)
        #expect(revisions == revisions.sorted())
        #expect(Set(revisions).count == revisions.count)
        for key in started where key.hasSuffix("7") {
            #expect(try told.last { $0.key == key }?.revision == caller.call(Get(key: key)).countdown.revision)
        }
    }
}
