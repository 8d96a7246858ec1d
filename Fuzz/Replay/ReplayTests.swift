import Testing

/// Each in a process of its own, as what is not as it should be ends it. `make fuzz` tries far more.
@Suite("Whatever comes in")
struct ReplayTests {
    @Test("lengths and clock times are read, or refused with a sentence")
    func clock() async {
        await #expect(processExitsWith: .success) { try Replay.run(ClockHarness.self, "clock") }
    }

    @Test("a stream is cut at its NULs, in whatever pieces it arrives")
    func framer() async {
        await #expect(processExitsWith: .success) { try Replay.run(FramerHarness.self, "framer") }
    }

    @Test("an object to us is one to Foundation, and comes back as it was")
    func json() async {
        await #expect(processExitsWith: .success) { try Replay.run(JSONHarness.self, "json") }
    }

    @Test("parameters of every method come back as they were")
    func message() async {
        await #expect(processExitsWith: .success) { try Replay.run(MessageHarness.self, "message") }
    }

    @Test("a session answers the same, in whatever pieces calls arrive")
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

    @Test("what is not as it should be ends the process")
    func failing() async {
        await #expect(processExitsWith: .failure) { try Replay.run(Failing.self, "framer") }
    }

    private enum Failing: Harness {
        static func check(_ input: inout Input) { expect(input.rest().bytes.isEmpty, "there is no input") }
    }
}
