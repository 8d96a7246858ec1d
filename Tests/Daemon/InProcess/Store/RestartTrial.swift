import CountdownCore
import TestSupport
import Testing

@testable import countdownd

/// A machine on which daemons start and end, with a model of their promises.
struct RestartTrial {
    /// The promise about a live countdown.
    private enum Promise: Equatable {
        /// It ends at this point of the passing time, whatever the clocks say.
        case elapsed(until: Duration)
        case wall(until: WallInstant)
        case paused(left: Duration)
    }

    private let scene: StoreScene
    private var generator: SeededGenerator
    private var keeper: Keeper?
    private var promises: [String: Promise] = [:]
    /// In the order in which they happened.
    private var endings: [KeyedCountdown] = []
    /// How much time has passed. Over a reboot, the system clock and the stored offset decide.
    private var time = Duration.zero
    private var storedOffset: Duration
    private var boots = 1
    private var highest = Revision(0)

    init(seed: UInt64) throws {
        scene = try StoreScene()
        generator = SeededGenerator(seed: seed)
        storedOffset = scene.now.offset
        try start(isNewBoot: true)
    }

    /// Makes a random step, and checks the daemon against the model.
    mutating func step() throws {
        switch Int.random(in: 0..<16, using: &generator) {
        case 0..<8: try change()
        case 8..<11: pass(seconds(0...40))
        case 11: setClock()
        case 12: try end(cleanly: true)
        case 13: try end(cleanly: false)
        case 14:
            // The daemon has no turn left in which it could notice.
            setClock()
            try end(cleanly: Bool.random(using: &generator))
        default: try reboot()
        }
        if keeper == nil {
            pass(seconds(0...60))
            if Bool.random(using: &generator) { setClock() }
            try start()
        }
        try turn()
    }

    /// Lets time pass until every countdown has ended.
    mutating func finish() throws {
        for key in promises.keys.sorted() {
            guard case .paused(let left) = promises[key] else { continue }
            try turn(.resume(Key(key)))
            promises[key] = .elapsed(until: time + left)
        }
        while !promises.isEmpty {
            pass(.seconds(20))
            if keeper == nil { try start() }
            try turn()
            try end(cleanly: Bool.random(using: &generator))
        }
    }

    // MARK: The machine

    private mutating func seconds(_ range: ClosedRange<Int64>) -> Duration {
        .seconds(Int64.random(in: range, using: &generator))
    }

    private mutating func pass(_ span: Duration) {
        scene.pass(span)
        time = time + span
    }

    private mutating func setClock() {
        scene.pass(.zero, thenSetBy: seconds(-500...500))
    }

    private mutating func reboot() throws {
        try end(cleanly: Bool.random(using: &generator))
        let known = Now(boot: scene.now.boot, offset: storedOffset).wall
        let wall = scene.now.wall + seconds(-300...900)
        time = time + (wall - known)
        let boot = BootInstant(microseconds: seconds(1...50).microseconds)
        scene.now = Now(boot: boot, offset: Duration(microseconds: wall.microseconds - boot.microseconds))
        boots += 1
        scene.bootID = "boot \(boots)"
        try start(isNewBoot: true)
    }

    private mutating func end(cleanly: Bool) throws {
        if cleanly {
            keeper?.stop()
        } else if keeper != nil {
            try scene.crash()
        }
        keeper = nil
    }

    private mutating func start(isNewBoot: Bool = false) throws {
        let opened = try scene.open()
        keeper = opened
        let wasSet = storedOffset != scene.now.offset
        #expect(opened.offset == (isNewBoot || wasSet ? nil : storedOffset))
        if wasSet && !isNewBoot { #expect(opened.stepRevision == opened.timetable.revision) }
        storedOffset = scene.now.offset
        #expect(opened.timetable.revision >= highest)
        highest = opened.timetable.revision
        try check()
    }

    // MARK: Changes

    private mutating func change() throws {
        let name = "key \(Int.random(in: 0..<8, using: &generator))"
        let (key, span) = (try Key(name), seconds(1...200))
        switch (promises[name], Int.random(in: 0..<4, using: &generator)) {
        case (nil, 0...1), (_, 0):
            try turn(.start(Request.Start(key, .after(span), ifLive: .restart)))
            promises[name] = .elapsed(until: time + span)
        case (nil, _), (_, 1):
            try turn(.start(Request.Start(key, .at(scene.now.wall + span), ifLive: .restart)))
            promises[name] = .wall(until: scene.now.wall + span)
        case (_, 2):
            try turn(.cancel(key))
            promises[name] = nil
        case (.elapsed(let end)?, _):
            try turn(.pause(key))
            promises[name] = .paused(left: end - time)
        case (.wall(let end)?, _):
            try turn(.adjust(key, .by(span)))
            promises[name] = .wall(until: end + span)
        case (.paused(let left)?, _):
            try turn(.resume(key))
            promises[name] = .elapsed(until: time + left)
        }
        try check()
    }

    /// Lets the daemon end the countdowns that are due, and then make a change.
    private mutating func turn(_ request: Request? = nil) throws {
        guard let keeper else { return }
        let wasSet = storedOffset != scene.now.offset
        let step = wasSet ? ClockStep(offset: scene.now.offset, revision: keeper.timetable.revision) : nil
        let changes = try keeper.turn([request].compactMap(\.self), clockStep: step, at: scene.now)
        storedOffset = scene.now.offset
        for countdown in changes.map(\.countdown) {
            #expect(countdown.revision > highest)
            highest = countdown.revision
            if !countdown.isLive { endings.append(countdown) }
            if case .finished(let end, let late) = countdown.phase { checkEnding(countdown.key.text, at: end, late) }
        }
        #expect(!promises.values.contains { lateness($0) ?? .seconds(-1) >= .zero })
    }

    // MARK: The promises

    /// How long ago it should have ended; nil while it is paused.
    private func lateness(_ promise: Promise) -> Duration? {
        switch promise {
        case .elapsed(let end): time - end
        case .wall(let end): scene.now.wall - end
        case .paused: nil
        }
    }

    private mutating func checkEnding(_ key: String, at end: WallInstant, _ late: Duration) {
        guard let promise = promises.removeValue(forKey: key), let lateness = lateness(promise) else {
            Issue.record("\(key) had nothing to end")
            return
        }
        #expect(lateness >= .zero)
        #expect(late == lateness)
        #expect(end == scene.now.wall - lateness)
    }

    /// Checks all countdowns of the daemon against the promises.
    private func check() throws {
        let known = try #require(keeper).known
        #expect(known.filter { !$0.isLive } == endings)
        let live = Dictionary(uniqueKeysWithValues: known.filter(\.isLive).map { ($0.key.text, $0.phase) })
        #expect(live == promises.mapValues(phase))
    }

    private func phase(_ promise: Promise) -> Phase {
        switch promise {
        case .elapsed(let end): .running(until: .elapsed(scene.now.boot + (end - time)))
        case .wall(let end): .running(until: .wall(end))
        case .paused(let left): .paused(remaining: left)
        }
    }
}
