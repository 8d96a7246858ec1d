import CountdownCore
import Fleet
import TestSupport
import Testing

@testable import countdownd

@Suite("The watch of a fleet's engine")
struct EngineWatchTests {
    /// A member, and the watch that looks at it after each turn.
    private struct Scene: ~Copyable {
        var timetable = Timetable(limits: Limits(), revision: Revision(0))
        var member = Member(host: HostID(1, 2), random: SeededGenerator(seed: 1))
        var now = Now(boot: BootInstant(microseconds: 0), offset: .seconds(1_760_000_000))
        var watch: EngineWatch
        /// The lines of the log.
        var lines: [EngineWatch.Line] = []

        init() { watch = EngineWatch(at: now) }

        mutating func pass(_ milliseconds: Int64) {
            now = Now(boot: now.boot + .milliseconds(milliseconds), offset: now.offset)
            turn()
        }

        /// Does a turn with events of the stream.
        mutating func turn(_ events: LogCursor.Event...) {
            for event in events { member.receive(event, &timetable, at: now) }
            var budget = 100
            member.serve(&timetable, at: now, budget: &budget)
            for case .lost(let reason) in member.takeOutput().notes {
                if let line = watch.lose(reason, at: now) { lines.append(line) }
            }
            if let line = watch.update(member, at: now) { lines.append(line) }
        }

        /// Asks for the stream, as a daemon does at its start and whenever it was lost.
        mutating func open() { member.open(&timetable) }

        mutating func becomeLive() {
            open()
            turn(.page([], LogCursor.Position(version: LogVersion(1), id: nil)), .live)
        }

        func expect(
            _ state: EngineWatch.State,
            _ reason: String? = nil,
            lines: [EngineWatch.Line],
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            #expect(watch.state == state, sourceLocation: sourceLocation)
            #expect(watch.reason == reason, sourceLocation: sourceLocation)
            let logged = self.lines
            #expect(logged == lines, sourceLocation: sourceLocation)
        }
    }

    @Test("an engine that is reached within a second of the start was never lost")
    func start() {
        var scene = Scene()
        scene.open()
        scene.turn(.lost("connecting"))
        scene.expect(.connecting, "connecting", lines: [])
        scene.pass(500)
        scene.becomeLive()
        scene.pass(5_000)
        scene.expect(.live, lines: [])
        #expect(scene.watch.next == nil)
    }

    @Test("an engine that is not reached within a second of the start is lost since the start, and logged once")
    func noEngine() {
        var scene = Scene()
        let start = scene.now
        scene.open()
        scene.turn(.lost("connecting"))
        #expect(scene.watch.next == start.boot + .seconds(1))
        scene.pass(999)
        scene.turn(.lost("refused"))
        #expect(scene.watch.loss == nil)
        scene.pass(1)
        scene.expect(.lost, "refused", lines: [.lost("refused")])
        #expect(scene.watch.loss == EngineWatch.Loss(since: start.wall, reason: "refused"))
        for _ in 0..<5 {
            scene.open()
            scene.turn(.lost("refused"))
            scene.pass(2_000)
        }
        scene.expect(.lost, "refused", lines: [.lost("refused")])
        #expect(scene.watch.next == nil)
    }

    @Test("a bridge that never answers is logged, too")
    func silence() {
        var scene = Scene()
        scene.open()
        scene.turn()
        scene.pass(1_000)
        scene.expect(.lost, "the bridge does not answer", lines: [.lost("the bridge does not answer")])
    }

    @Test("the loss of an engine that was followed is logged at once, and again only after it was back")
    func loss() {
        var scene = Scene()
        scene.becomeLive()
        for times in 1...2 {
            scene.turn(.lost("closed"))
            let loss = EngineWatch.Loss(since: scene.now.wall, reason: "closed")
            #expect(scene.watch.loss == loss)
            scene.pass(3_000)
            scene.expect(.lost, "closed", lines: Array(repeating: .lost("closed"), count: times))
            #expect(scene.watch.loss == loss)
            scene.open()
            scene.turn(.resumed, .live)
            #expect(scene.watch.state == .live)
        }
    }

    @Test("another reason is logged once, and only if it lasts for a second")
    func otherReason() {
        var scene = Scene()
        scene.becomeLive()
        scene.turn(.lost("closed"), .lost("refused"))
        scene.pass(400)
        scene.turn(.lost("closed"))
        scene.pass(2_000)
        scene.expect(.lost, "closed", lines: [.lost("closed")])
        scene.turn(.lost("wrong password"))
        scene.pass(1_000)
        scene.pass(1_000)
        scene.expect(.lost, "wrong password", lines: [.lost("closed"), .stillLost("wrong password")])
    }

    @Test("reading every countdown again is no loss; losing the engine meanwhile is one")
    func divergence() {
        var scene = Scene()
        scene.becomeLive()
        scene.turn(.diverged)
        scene.expect(.snapshot, lines: [])
        // The reason is the one of an earlier loss, so that the member reports nothing new.
        scene.turn(.page([], LogCursor.Position(version: LogVersion(5), id: nil)), .lost(scene.member.lostReason))
        scene.expect(.lost, scene.member.lostReason, lines: [.lost(scene.member.lostReason)])
        scene.open()
        scene.turn()
        #expect(scene.watch.state == .lost)
        scene.turn(.page([], LogCursor.Position(version: LogVersion(5), id: nil)))
        #expect(scene.watch.state == .snapshot)
        scene.turn(.live)
        #expect(scene.watch.state == .live)
    }

    @Test("a member lags since it was level with the engine last")
    func lag() {
        var scene = Scene()
        scene.pass(100)
        #expect(scene.watch.lag(at: scene.now) == .milliseconds(100))
        scene.becomeLive()
        scene.pass(1_000)
        #expect(scene.watch.lag(at: scene.now) == .zero)
        scene.turn(.lost("closed"))
        scene.pass(700)
        scene.open()
        scene.turn(.diverged, .page([], LogCursor.Position(version: LogVersion(5), id: nil)))
        scene.pass(300)
        #expect(scene.watch.lag(at: scene.now) == .seconds(1))
        scene.turn(.live)
        #expect(scene.watch.lag(at: scene.now) == .zero)
    }
}
