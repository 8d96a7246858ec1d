import CountdownCore
import Testing

@Suite("Every request in every phase")
struct DecisionTableTests {
    /// The result of each request, by the phase of the countdown under its key.
    static let table = """
                   attach   restart   extend   later    sooner   laterTo    fail           room     noRoom         wait    waitRoom waitNoRoom cancel     finish     pause      resume     by         less       to
        unknown    started  started   started  started  started  started    started        started  started        started started  started    noSuch     noSuch     noSuch     noSuch     noSuch     noSuch     noSuch
        elapsed    attached restarted adjusted adjusted attached adjusted   alreadyRunning adjusted alreadyRunning wait    adjusted wait       cancelled  finished   paused     wrongState adjusted   finished   adjusted
        wall       attached restarted adjusted adjusted attached adjusted   alreadyRunning adjusted alreadyRunning wait    adjusted wait       cancelled  finished   paused     wrongState adjusted   finished   adjusted
        paused     attached restarted adjusted adjusted attached wrongState alreadyRunning adjusted alreadyRunning wait    adjusted wait       cancelled  finished   wrongState resumed    adjusted   finished   wrongState
        pausedWall attached restarted adjusted adjusted attached wrongState alreadyRunning adjusted alreadyRunning wait    adjusted wait       cancelled  finished   wrongState resumed    adjusted   finished   wrongState
        finished   started  started   started  started  started  started    started        started  started        started started  started    wrongState wrongState wrongState wrongState wrongState wrongState wrongState
        cancelled  started  started   started  started  started  started    started        started  started        started started  started    wrongState wrongState wrongState wrongState wrongState wrongState wrongState
        forgotten  started  started   started  started  started  started    started        started  started        started started  started    noSuch     noSuch     noSuch     noSuch     noSuch     noSuch     noSuch
        """

    struct Cell: CustomTestStringConvertible {
        let phase: String
        let request: String
        let outcome: String

        /// Whether the caller may name the revision that it knows.
        var isConditional: Bool {
            ["cancel", "finish", "pause", "resume", "by", "less", "to"].contains(request)
        }

        var testDescription: String { "\(request) of \(phase): \(outcome)" }
    }

    static var cells: [Cell] {
        let rows = table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        return rows.dropFirst().flatMap { row in
            zip(rows[0], row.dropFirst()).map { Cell(phase: row[0], request: $0, outcome: $1) }
        }
    }

    @Test("has the result in the table, and deciding changes nothing", arguments: cells)
    func cell(_ cell: Cell) throws {
        let scene = try scene(cell.phase)
        let request = try request(cell.request, at: scene.now)
        let before = Observation(of: scene.timetable, at: scene.now)
        let outcome: String
        var refused: KeyedCountdown?
        do throws(Refusal) {
            switch try scene.timetable.decide(request, at: scene.now) {
            case .attached(let countdown):
                outcome = "attached"
                #expect(countdown == scene["k"])
            case .wait: outcome = "wait"
            case .change(let change):
                outcome = "\(change.kind)"
                #expect(change.countdown.revision == Revision(scene.timetable.revision.number + 1))
                #expect(change.replaced == (change.kind == .started ? nil : scene["k"]?.revision))
            }
        } catch {
            switch error {
            case .noSuchCountdown(key("k")): outcome = "noSuch"
            case .alreadyRunning(let countdown, _): (outcome, refused) = ("alreadyRunning", countdown)
            case .wrongState(let countdown): (outcome, refused) = ("wrongState", countdown)
            default: outcome = "\(error)"
            }
        }
        #expect(outcome == cell.outcome)
        if let refused { #expect(refused == scene["k"]) }
        #expect(Observation(of: scene.timetable, at: scene.now) == before)
    }

    @Test(
        "is refused if the revision differs, before its state is checked",
        arguments: cells.filter(\.isConditional)
    )
    func otherRevision(_ cell: Cell) throws {
        let scene = try scene(cell.phase)
        let current = scene["k"]
        for number in [0, (current?.revision.number ?? 0) - 1, (current?.revision.number ?? 0) + 1] {
            let request = try request(cell.request, ifRevision: Revision(number), at: scene.now)
            #expect(throws: current.map { Refusal.revisionMismatch($0) } ?? .noSuchCountdown(key("k"))) {
                try scene.timetable.decide(request, at: scene.now)
            }
        }
    }

    @Test("has the same result if the revision matches", arguments: cells.filter(\.isConditional))
    func sameRevision(_ cell: Cell) throws {
        let scene = try scene(cell.phase)
        let named = try request(cell.request, ifRevision: scene["k"]?.revision, at: scene.now)
        let unnamed = try request(cell.request, at: scene.now)
        #expect(scene.outcome(of: named) == scene.outcome(of: unnamed))
    }

    private func scene(_ phase: String) throws -> RunningTimetable {
        let scene = RunningTimetable(revision: Revision(100))
        try scene.start("other", seconds: 10)
        guard phase != "unknown" else { return scene }
        let wall = phase.lowercased().hasSuffix("wall")
        try scene.start(
            "k",
            wall ? .at(scene.now.wall + .seconds(60)) : .after(.seconds(60)),
            forget: phase == "forgotten"
        )
        scene.pass(.seconds(5))
        switch phase {
        case "paused", "pausedWall": try scene.ask(.pause(key("k")))
        case "finished": try scene.ask(.finish(key("k")))
        case "cancelled", "forgotten": try scene.ask(.cancel(key("k")))
        default: break
        }
        return scene
    }

    private func request(_ name: String, ifRevision: Revision? = nil, at now: Now) throws -> Request {
        let k = key("k")
        switch name {
        case "attach": return .start(Request.Start(k, ifLive: .attach))
        case "restart": return .start(Request.Start(k, ifLive: .restart))
        case "extend": return .start(Request.Start(k, ifLive: .extend))
        // 55 s remain.
        case "later": return .start(Request.Start(k, .after(.seconds(55) + .microseconds(1)), ifLive: .later))
        case "sooner": return .start(Request.Start(k, .after(.seconds(55)), ifLive: .later))
        case "laterTo": return .start(Request.Start(k, .at(now.wall + .seconds(90)), ifLive: .later))
        case "fail": return .start(Request.Start(k, ifLive: .fail))
        // 55 s remain, and 60 s are added.
        case "room": return .start(Request.Start(k, ifLive: .extend, upTo: .seconds(115)))
        case "noRoom": return .start(Request.Start(k, ifLive: .extend, upTo: .seconds(115) - .microseconds(1)))
        case "wait": return .start(Request.Start(k, ifLive: .wait))
        case "waitRoom": return .start(Request.Start(k, ifLive: .wait, upTo: .seconds(115)))
        case "waitNoRoom": return .start(Request.Start(k, ifLive: .wait, upTo: .seconds(115) - .microseconds(1)))
        case "cancel": return .cancel(k, ifRevision: ifRevision)
        case "finish": return .finish(k, ifRevision: ifRevision)
        case "pause": return .pause(k, ifRevision: ifRevision)
        case "resume": return .resume(k, ifRevision: ifRevision)
        case "by": return .adjust(k, .by(.seconds(5)), ifRevision: ifRevision)
        case "less": return .adjust(k, .by(-.seconds(55)), ifRevision: ifRevision)
        case "to": return .adjust(k, .to(now.wall + .seconds(90)), ifRevision: ifRevision)
        default: throw Unknown(name: name)
        }
    }

    private struct Unknown: Error {
        let name: String
    }
}

extension RunningTimetable {
    fileprivate func outcome(of request: Request) -> Result<Change?, Refusal> {
        do throws(Refusal) {
            guard case .change(let change) = try timetable.decide(request, at: now) else { return .success(nil) }
            return .success(change)
        } catch {
            return .failure(error)
        }
    }
}
