import CountdownCore
import Testing

@Suite("Changes of other hosts")
struct RemoteTests {
    /// What is announced, by the state that is known under the key and the state that the fleet holds.
    ///
    /// The countdown was started 5 s ago with a duration of 60 s. Records: `live` ends in 90 s and `pause` is paused, `past`
    /// ended a second ago, `begin` is its start again, `forget` is not kept, `done` finished 2 s ago and `cancel` was cancelled
    /// then. A newer run began a second ago, `soon` after the old deadline.
    static let table = """
        known       run   record   announced
        nothing     newer live     started
        nothing     newer pause    started
        nothing     newer past     started,finished
        nothing     newer done     -
        nothing     newer cancel   -
        nothing     newer absent   -
        finished    same  done     -
        finished    same  cancel   -
        finished    same  live     started
        finished    same  pause    started
        finished    same  past     started,finished
        finished    newer live     started
        finished    newer past     started,finished
        finished    newer done     -
        finished    newer absent   -
        cancelled   same  live     started
        cancelled   same  cancel   -
        forgotten   same  live     started
        forgotten   same  done     -
        forgotten   newer live     started
        forgotten   newer absent   -
        running     same  live     adjusted
        running     same  begin    restarted
        running     same  pause    paused
        running     same  past     adjusted,finished
        running     same  forget   adjusted
        running     same  done     finished
        running     same  cancel   cancelled
        running     newer live     finished,started
        running     newer pause    finished,started
        running     newer past     finished,started,finished
        running     newer done     finished
        running     newer cancel   finished
        running     newer absent   cancelled
        wall        same  live     adjusted
        wall        newer live     finished,started
        wall        newer absent   cancelled
        paused      same  resume   resumed
        paused      same  pause    paused
        paused      same  done     finished
        paused      newer live     finished,started
        paused      newer absent   cancelled
        brief       same  live     adjusted
        brief       same  cancel   cancelled
        brief       newer live     finished,started
        brief       newer absent   cancelled
        """

    struct Row: CustomTestStringConvertible {
        let known: String
        let isSameRun: Bool
        let record: String
        let announced: String

        var testDescription: String { "\(record) of the \(isSameRun ? "same" : "newer") run, \(known) here" }
    }

    static var rows: [Row] {
        table.split(separator: "\n").dropFirst().map { line in
            let words = line.split(separator: " ").map(String.init)
            return Row(known: words[0], isSameRun: words[1] == "same", record: words[2], announced: words[3])
        }
    }

    let scene = RunningTimetable(revision: Revision(100))

    @Test("are announced as the table says", arguments: rows)
    func announced(_ row: Row) throws {
        try makeKnown(row.known)
        let revision = scene.timetable.revision
        let state = try state(row)
        let applied = scene.timetable.applyRemote(state, at: scene.now)
        let kinds = applied.map { "\($0.kind)" }
        #expect((kinds.isEmpty ? "-" : kinds.joined(separator: ",")) == row.announced)
        for (number, change) in zip((revision.number + 1)..., applied) {
            #expect(change.countdown.revision == Revision(number))
            #expect((change.replaced == nil) == (change.kind == .started))
        }
        #expect(scene.timetable.revision == Revision(revision.number + Int64(applied.count)))
        if case .countdown(let countdown, _, _) = state, countdown.isLive {
            let found = scene["k"]
            #expect(found?.phase == countdown.phase || row.record == "past")
            #expect(found?.label == countdown.label && found?.duration == countdown.duration)
        }
    }

    @Test(
        "a run that was missed ends at its deadline, or at the next start if that is earlier, and never in the future",
        arguments: [(0, -1, -1, 0), (56, 0, -1, 1), (26, 9, 0, 0)] as [(Int64, Int64, Int64, Int64)]
    )
    func missedEnd(passed: Int64, start: Int64, end: Int64, late: Int64) throws {
        try makeKnown("running")
        // Its deadline may have passed, and nothing was expired.
        scene.pass(.seconds(passed))
        let changes = scene.timetable.applyRemote(remote(started: scene.now.wall + .seconds(start)), at: scene.now)
        #expect(changes.first?.countdown.phase == .finished(at: scene.now.wall + .seconds(end), late: .seconds(late)))
    }

    @Test("a start learned after its deadline ends at the deadline, with its lateness")
    func startedLate() {
        let start = scene.now.wall - .seconds(100)
        let state = remote(started: start, phase: .running(until: .wall(start + .seconds(60))))
        let applied = scene.timetable.applyRemote(state, at: scene.now)
        #expect(applied.map(\.kind) == [.started, .finished])
        #expect(scene["k"]?.phase == .finished(at: start + .seconds(60), late: .seconds(40)))
    }

    @Test("an end is at the instant that the fleet says")
    func ends() throws {
        try makeKnown("running")
        let end = scene.now.wall - .seconds(2)
        let cancelled = Phase.cancelled(at: end, remaining: .seconds(57))
        _ = scene.timetable.applyRemote(
            remote(started: end, phase: cancelled, .cancelled, isSameRun: true),
            at: scene.now
        )
        #expect(scene["k"]?.phase == cancelled)
    }

    @Test("a key that the fleet does not hold ends now")
    func absent() throws {
        try makeKnown("running")
        _ = scene.timetable.applyRemote(.absent(key("k")), at: scene.now)
        #expect(scene["k"]?.phase == .cancelled(at: scene.now.wall, remaining: .seconds(55)))
    }

    @Test("a kind that does not fit the state is corrected")
    func kinds() throws {
        try makeKnown("running")
        let running = Phase.running(until: .elapsed(scene.now.boot + .seconds(9)))
        let live = remote(started: scene.now.wall, phase: running, .cancelled, isSameRun: true)
        #expect(scene.timetable.applyRemote(live, at: scene.now).map(\.kind) == [.adjusted])
        let ended = remote(
            started: scene.now.wall,
            phase: .finished(at: scene.now.wall, late: .zero),
            .paused,
            isSameRun: true
        )
        #expect(scene.timetable.applyRemote(ended, at: scene.now).map(\.kind) == [.finished])
    }

    @Test("limits never refuse them, and revisions below a trimmed history cannot be resumed")
    func limitsAndHistory() {
        var limits = Limits()
        limits.countdowns = 0
        let scene = RunningTimetable(limits: limits, revision: Revision(7))
        #expect(scene.timetable.applyRemote(remote(started: scene.now.wall), at: scene.now).count == 1)
        #expect(scene.canResume(after: Revision(7)))
        scene.timetable.trimHistory()
        #expect(!scene.canResume(after: Revision(7)))
        #expect(scene.canResume(after: Revision(8)))
    }

    // MARK: The scene

    private func makeKnown(_ known: String) throws {
        guard known != "nothing" else { return }
        let end: Request.End = known == "wall" ? .at(scene.now.wall + .seconds(60)) : .after(.seconds(60))
        try scene.start("k", end, label: "tea", forget: known == "brief" || known == "forgotten")
        scene.pass(.seconds(5))
        switch known {
        case "finished": try scene.ask(.finish(key("k")))
        case "cancelled", "forgotten": try scene.ask(.cancel(key("k")))
        case "paused": try scene.ask(.pause(key("k")))
        default: break
        }
    }

    private func state(_ row: Row) throws -> RemoteState {
        let now = scene.now
        let started = row.isSameRun ? now.wall - .seconds(5) : now.wall - .seconds(1)
        let (phase, kind): (Phase, Change.Kind) =
            switch row.record {
            case "absent": (.paused(remaining: .zero), .paused)
            case "live", "forget": (.running(until: .elapsed(now.boot + .seconds(90))), .adjusted)
            case "begin": (.running(until: .elapsed(now.boot + .seconds(55))), .started)
            case "resume": (.running(until: .elapsed(now.boot + .seconds(55))), .resumed)
            case "pause": (.paused(remaining: .seconds(50)), .paused)
            case "past": (.running(until: .elapsed(now.boot - .seconds(1))), .adjusted)
            case "done": (.finished(at: now.wall - .seconds(2), late: .zero), .finished)
            case "cancel": (.cancelled(at: now.wall - .seconds(2), remaining: .seconds(57)), .cancelled)
            default: throw Unknown(record: row.record)
            }
        if row.record == "absent" { return .absent(key("k")) }
        return remote(started: started, phase: phase, kind, isSameRun: row.isSameRun, forget: row.record == "forget")
    }

    private func remote(
        started: WallInstant,
        phase: Phase? = nil,
        _ kind: Change.Kind = .started,
        isSameRun: Bool = false,
        forget: Bool = false
    ) -> RemoteState {
        .countdown(
            KeyedCountdown(
                key: key("k"),
                phase: phase ?? .running(until: .elapsed(scene.now.boot + .seconds(60))),
                clock: .elapsed,
                duration: .seconds(70),
                started: started,
                label: "coffee",
                metadata: ["host": "b"],
                forget: forget,
                revision: Revision(3)
            ),
            kind,
            isSameRun: isSameRun
        )
    }

    private struct Unknown: Error {
        let record: String
    }
}
