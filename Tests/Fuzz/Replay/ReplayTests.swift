import Testing

/// Each harness runs in a process of its own, since a failed check ends it. `scripts/fuzz` tries far more inputs.
@Suite("Fuzz inputs")
struct ReplayTests {
    @Test("lengths and clock times are read, or refused with a sentence")
    func clock() async {
        await #expect(processExitsWith: .success) { try Replay.run(ClockHarness.self, "clock") }
    }

    @Test("whatever a bridge reports, each call of a fleet has one result")
    func fleet() async {
        await #expect(processExitsWith: .success) { try Replay.run(FleetHarness.self, "fleet") }
    }

    @Test("a stream is split at its NULs, however it arrives")
    func framer() async {
        await #expect(processExitsWith: .success) { try Replay.run(FramerHarness.self, "framer") }
    }

    @Test("an accepted object is one to Foundation too, and is the same after a round trip")
    func json() async {
        await #expect(processExitsWith: .success) { try Replay.run(JSONHarness.self, "json") }
    }

    @Test("parameters of every method are the same after a round trip")
    func message() async {
        await #expect(processExitsWith: .success) { try Replay.run(MessageHarness.self, "message") }
    }

    @Test("an engine's bytes are the same values however they arrive, and are never kept without bound")
    func resp() async {
        await #expect(processExitsWith: .success) { try Replay.run(RESPHarness.self, "resp") }
    }

    @Test("a session answers the same, however the calls arrive")
    func session() async {
        await #expect(processExitsWith: .success) { try Replay.run(SessionHarness.self, "session") }
    }

    @Test("a damaged store is read or moved aside, and a store is open afterwards")
    func store() async {
        await #expect(processExitsWith: .success) { try Replay.run(StoreHarness.self, "store") }
    }

    @Test("the timetable agrees with a dictionary of what runs")
    func timetable() async {
        await #expect(processExitsWith: .success) { try Replay.run(TimetableHarness.self, "timetable") }
    }

    @Test("a failed check ends the process")
    func failing() async {
        await #expect(processExitsWith: .failure) { try Replay.run(Failing.self, "framer") }
    }

    private enum Failing: Harness {
        static func check(_ input: inout Input) { expect(input.rest().bytes.isEmpty, "there is no input") }
    }
}
