import IPC
import System
import TestSupport
import Testing

@testable import countdownctl

@Suite("The hold of a cooldown")
struct CooldownHoldTests {
    /// The countdown of a hold of this length in microseconds.
    private static func job(_ length: Int64) -> Countdown {
        var job = countdown("job", 0)
        (job.durationUSec, job.remainingUSec, job.startedUSec) = (length, length, 1)
        return job
    }

    /// A command under `run`, its countdown in a daemon, and other programs that change it. Time is in seconds.
    private struct Run {
        /// What becomes of a call.
        enum Fate: CaseIterable {
            case answered
            /// It does not reach the daemon.
            case lost
            /// The daemon makes the change, and its reply is lost.
            case unanswered
        }

        private var hold: CooldownHold
        private(set) var now = 0.0
        private(set) var key: Countdown
        /// The end, while it runs.
        private(set) var end: Double
        private(set) var isKnown = true
        private(set) var calls: [String] = []
        private(set) var reason: CooldownHold.Reason?
        private(set) var wakeUp: Double?
        /// The fate of the next calls; after them all are answered.
        var fates: [Fate] = []

        init(_ cooldown: Double, from origin: CooldownHold.Origin = .start, keep: Bool = false, least: Double = 30) {
            let terms = CooldownHold.Terms(
                cooldown: Self.usec(cooldown),
                origin: origin,
                keepsOnFailure: keep,
                leastHold: Self.usec(least)
            )
            end = Double(terms.hold) / 1_000_000
            key = CooldownHoldTests.job(terms.hold)
            hold = CooldownHold(terms, started: key, at: 0)
            perform(hold.beginning)
        }

        private static func usec(_ seconds: Double) -> Int64 { Int64((seconds * 1_000_000).rounded()) }

        /// Lets time pass, with the instants to wake up. With `late`, as after a suspend, these come at the end only.
        mutating func pass(until instant: Double, late: Bool = false) {
            while let wakeUp, wakeUp <= instant {
                advance(to: late ? instant : max(wakeUp, now))
                self.wakeUp = nil
                perform(hold.wake(at: Self.usec(now)))
            }
            advance(to: instant)
        }

        mutating func exit(succeeded: Bool = true) {
            if let action = hold.exit(succeeded: succeeded, at: Self.usec(now)) { perform(action) }
        }

        // MARK: Other programs

        mutating func add(_ seconds: Double) { change { $0.adjust(by: seconds) } }
        mutating func cancel() { change { $0.key.state = .cancelled } }
        mutating func restart() {
            change { run in
                run.key.startedUSec += 1
                run.end = run.now + 3_600
            }
        }
        mutating func pause() { change { $0.key.state = .paused } }
        mutating func resume() {
            change { run in
                run.key.state = .running
                run.end = run.now + Double(run.key.remainingUSec) / 1_000_000
            }
        }
        mutating func forget() { isKnown = false }

        // MARK: The daemon

        private mutating func advance(to instant: Double) {
            now = instant
            guard key.state == .running else { return }
            key.remainingUSec = max(0, Self.usec(end) - Self.usec(now))
            if key.remainingUSec == 0 { change { $0.key.state = .finished } }
        }

        private mutating func change(_ body: (inout Run) -> Void) {
            body(&self)
            key.revision += 1
        }

        private mutating func adjust(by seconds: Double) {
            key.durationUSec += Self.usec(seconds)
            key.remainingUSec += Self.usec(seconds)
            if key.state == .running { end += seconds }
            if key.remainingUSec <= 0 { key.state = .finished }
        }

        private mutating func answer(_ call: CountdownRequest) -> CountdownError? {
            guard isKnown else { return .noSuchCountdown(key: "job") }
            switch call {
            case .get: calls.append("look")
            case .cancel(_, let revision):
                calls.append("cancel")
                guard revision == key.revision else { return .revisionMismatch(key) }
                cancel()
            case .adjust(_, let amount, let revision):
                let seconds = Double(amount) / 1_000_000
                calls.append(seconds > 0 ? "add \(seconds)" : "take \(-seconds)")
                guard revision == key.revision else { return .revisionMismatch(key) }
                change { $0.adjust(by: seconds) }
            default: Issue.record("unexpected \(call)")
            }
            return nil
        }

        private mutating func perform(_ first: CooldownHold.Action) {
            var action = first
            for _ in 0..<100 {
                switch action {
                case .wait(let instant):
                    wakeUp = Double(instant) / 1_000_000
                    return
                case .leave(let reason):
                    self.reason = reason
                    return
                case .call(let call):
                    let fate = fates.isEmpty ? .answered : fates.removeFirst()
                    let refusal = fate == .lost ? nil : answer(call)
                    let instant = Self.usec(now)
                    switch (fate, refusal) {
                    case (.answered, nil): action = hold.receive(key, at: instant)
                    case (.answered, let refusal?): action = hold.refuse(refusal, at: instant) ?? hold.fail(at: instant)
                    case (.lost, _), (.unanswered, _): action = hold.fail(at: instant)
                    }
                }
            }
            Issue.record("the calls do not end: \(calls.suffix(4))")
        }
    }

    /// A cooldown, the instant of the exit, the calls, and the end.
    static let courses: [(CooldownHold.Origin, cooldown: Double, exit: Double, calls: [String], end: Double)] = [
        // Less than half of the cooldown.
        (.start, 60, 29, [], 60),
        (.start, 60, 40, ["add 30.0", "take 30.0"], 60),
        // Held for the least hold.
        (.start, 1, 50, ["add 15.0", "add 15.0", "add 15.0", "take 74.0"], 1),
        (.end, 60, 5, ["add 5.0"], 65),
        (.end, 60, 70, ["add 30.0", "add 30.0", "add 10.0"], 130),
        (.end, 60, 200, Array(repeating: "add 30.0", count: 6) + ["add 20.0"], 260),
    ]

    @Test(
        "the hold is renewed at half, and changed after the command so that the cooldown counts from its origin",
        arguments: courses
    )
    func counts(
        from origin: CooldownHold.Origin,
        cooldown: Double,
        exit: Double,
        calls: [String],
        end: Double
    ) {
        var run = Run(cooldown, from: origin)
        run.pass(until: exit)
        #expect(run.key.state == .running)
        run.exit()
        #expect(run.calls == calls && run.reason == .done)
        #expect(run.end == end && run.key.durationUSec == Int64(end * 1_000_000))
        #expect(run.key.state == (end > exit ? .running : .finished))
    }

    @Test("a command that fails gives the cooldown back, unless it shall be kept")
    func givesBack() {
        for origin in CooldownHold.Origin.allCases {
            var run = Run(60, from: origin)
            run.pass(until: 100)
            run.exit(succeeded: false)
            #expect(run.key.state == .cancelled && run.reason == .done)
        }
        var run = Run(60, keep: true)
        run.pass(until: 10)
        run.exit(succeeded: false)
        #expect(run.calls == [] && run.key.state == .running)
    }

    @Test(
        "time that another program adds or takes stays, also if the command fails",
        arguments: [
            (.start, 3_600, exit: 35, succeeded: true, end: 3_660), (.start, -20, 35, true, 40),
            (.end, 600, 100, true, 760), (.start, 600, 100, false, 600),
        ] as [(CooldownHold.Origin, Double, exit: Double, succeeded: Bool, end: Double)]
    )
    func keepsOthersTime(from origin: CooldownHold.Origin, time: Double, exit: Double, succeeded: Bool, end: Double) {
        var run = Run(60, from: origin)
        run.pass(until: 20)
        run.add(time)
        run.pass(until: exit)
        run.exit(succeeded: succeeded)
        #expect(run.end == end && run.key.state == .running && run.reason == .done)
    }

    @Test("a hold that another program shortens is renewed in time")
    func outlivesShortening() {
        var run = Run(1)
        run.pass(until: 5)
        run.add(-10)
        run.pass(until: 100)
        #expect(run.key.state == .running)
        run.exit()
        #expect(run.key.state == .finished)
    }

    @Test("a paused countdown is left alone, and held again after it was resumed")
    func leavesPaused() {
        var run = Run(1)
        run.pass(until: 14)
        run.pause()
        run.pass(until: 1_000)
        #expect(run.key.state == .paused && run.key.remainingUSec == 16_000_000)
        #expect(Set(run.calls.dropFirst()) == ["look"])
        run.resume()
        run.pass(until: 2_000)
        #expect(run.key.state == .running)
        run.pause()
        run.exit()
        #expect(run.key.state == .paused && run.reason == .done)
    }

    @Test("a countdown that ended or was replaced is reported once and never touched again")
    func leavesLost() {
        var ended = Run(1)
        ended.pass(until: 5)
        ended.cancel()
        ended.pass(until: 15)
        #expect(ended.reason == .ended(.cancelled))
        var forgotten = Run(1)
        forgotten.forget()
        forgotten.pass(until: 15)
        #expect(forgotten.reason == .ended(nil))
        var replaced = Run(1)
        replaced.pass(until: 5)
        replaced.restart()
        replaced.pass(until: 15)
        #expect(replaced.reason == .replaced)
        let calls = replaced.calls
        replaced.pass(until: 1_000)
        replaced.exit(succeeded: false)
        #expect(replaced.calls == calls && replaced.key.state == .running)
    }

    @Test("a loss is noticed after the command, too; a failed command has nothing to give back then, and is silent")
    func losesAtExit() {
        for (succeeded, reason) in [(true, CooldownHold.Reason.replaced), (false, .done)] {
            var run = Run(1)
            run.pass(until: 5)
            run.restart()
            run.exit(succeeded: succeeded)
            #expect(run.reason == reason)
            #expect(run.key.state == .running)
        }
    }

    @Test("while the daemon is away, renewals are tried again, in time before the end")
    func reconnects() {
        var run = Run(1)
        run.fates = Array(repeating: .lost, count: 8)
        run.pass(until: 29)
        #expect(run.calls.count == 1)
        run.pass(until: 300)
        #expect(run.key.state == .running)
        run.exit()
        #expect(run.key.state == .finished && run.reason == .done)
    }

    @Test("after the command the daemon is tried five times")
    func givesUp() {
        var run = Run(1)
        run.fates = Array(repeating: .lost, count: 100)
        run.pass(until: 5)
        run.exit()
        run.pass(until: 7)
        #expect(run.reason == .unreachable && run.fates.count == 95)
        #expect(run.end == 30)
    }

    @Test("after a suspend the hold is renewed at once; if that was beyond its end, the loss is reported")
    func suspends() {
        var run = Run(60)
        run.pass(until: 59, late: true)
        #expect(run.end == 119 && run.calls == ["add 59.0"])
        run = Run(60)
        run.pass(until: 61, late: true)
        #expect(run.reason == .ended(.finished) && run.calls == ["add 61.0"])
    }

    @Test("the hold runs out at the end of the countdown, unless it is paused, lost or over")
    func runsOut() throws {
        var started = Self.job(30)
        var hold = CooldownHold(.init(cooldown: 10, leastHold: 30), started: started, at: 0)
        #expect(hold.runsOut == 30)
        _ = hold.wake(at: 15)
        (started.durationUSec, started.revision) = (45, 2)
        _ = hold.receive(started, at: 16)
        #expect(hold.runsOut == 46)
        started.state = .paused
        #expect(!hold.isLost(to: started) && hold.look() == .call(.get(key: "job")) && hold.look() == nil)
        _ = hold.receive(started, at: 17)
        #expect(hold.runsOut == nil)
        (started.state, started.startedUSec, started.revision) = (.running, 2, 3)
        #expect(hold.isLost(to: started) && hold.refuse(.revisionMismatch(started), at: 18) == .leave(.replaced))
        #expect(hold.runsOut == nil && hold.look() == nil)
    }

    @Test("the command gets the signal of --on-lost once when the hold has run out, though the daemon does not answer")
    func signalsLoss() throws {
        let started = Self.job(1)
        for signal in [15, nil] as [Int32?] {
            let keeper = CooldownKeeper(
                .init(cooldown: 1, leastHold: 1),
                started: started,
                timer: try BootTimer(),
                daemon: DaemonEndpoint(path: "/nonexistent/socket"),
                output: Output(isQuiet: true, json: false, palette: .plain),
                lossSignal: signal
            )
            let end = BootClock.now + 1
            while BootClock.now <= end {}
            #expect(keeper.advance() == signal)
            #expect(keeper.advance() == nil)
        }
    }

    @Test("an exit while a call is under way waits for its answer")
    func exitsBetween() {
        let started = Self.job(30)
        var hold = CooldownHold(.init(cooldown: 10, leastHold: 30), started: started, at: 0)
        #expect(hold.wake(at: 15) == .call(.adjust(key: "job", by: 15, ifRevision: 1)))
        #expect(hold.exit(succeeded: true, at: 16) == nil)
        var renewed = started
        renewed.durationUSec = 45
        renewed.revision = 2
        #expect(hold.receive(renewed, at: 17) == .call(.adjust(key: "job", by: -35, ifRevision: 2)))
        #expect(hold.receive(renewed, at: 18) == .leave(.done))
    }

    @Test(
        "though replies are lost and others add time, a held countdown does not end, and its end is right",
        arguments: 0..<200
    )
    func holds(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let origin = Bool.random(using: &random) ? CooldownHold.Origin.start : .end
        let cooldown = Double([1, 45, 600].randomElement(using: &random) ?? 1)
        var run = Run(cooldown, from: origin)
        var others = 0.0
        for _ in 0..<20 {
            // Fewer calls in a row are lost than fit between a renewal and the end.
            run.fates = (0..<3).compactMap { _ in Run.Fate.allCases.randomElement(using: &random) }
            run.pass(until: run.now + Double(Int.random(in: 0..<40, using: &random)))
            if Int.random(in: 0..<3, using: &random) == 0 {
                // If a reply is lost and another program adds time before the next one, run takes both for that time.
                run.fates = []
                run.pass(until: run.now + 4)
                // Never the amount of a renewal, which it would be taken for.
                let time = Double(Int.random(in: 0..<100, using: &random)) + 0.05
                run.add(time)
                others += time
            }
            #expect(run.key.state == .running)
        }
        run.pass(until: run.now + 2_000)
        let exit = run.now
        run.fates = (0..<2).compactMap { _ in Run.Fate.allCases.randomElement(using: &random) }
        run.exit()
        run.pass(until: exit + 1)
        let end = (origin == .start ? 0 : exit) + cooldown + others
        if end <= exit {
            #expect(run.key.state == .finished)
        } else {
            #expect(abs(run.end - end) < 0.001)
        }
        #expect(run.reason == .done)
    }
}
