import CountdownCore
import TestSupport
import Testing

/// Random acts upon a timetable, a model of it and watchers; after each act all three must agree.
struct Trial {
    private struct Ending {
        let revision: Revision
        let key: Key
        let forget: Bool

        /// Whether it came after the revision of a watcher, and can be delivered to it.
        func isAhead(of listener: Listener) -> Bool {
            revision > (forget ? listener.begun : listener.since ?? listener.begun)
        }

        /// Whether the scan of a watcher may not have visited it; ends that it does not follow are not delivered.
        func mayBeMissed(by listener: Listener) -> Bool {
            isAhead(of: listener) && !listener.endings.contains(revision)
        }
    }

    private static let keys = (0..<12).map { key("\($0 % 3)/\($0)") }
    private static let selections: [Selection] = [
        .everything, .init(keys: Set(keys.prefix(2)), patterns: []), .init(keys: [], patterns: [pattern("1/*")]),
        .init(keys: [keys[0]], patterns: [pattern("*/?")]),
    ]
    private static let intervals: [Duration?] = [nil, .milliseconds(100), .milliseconds(250), .seconds(1), .seconds(7)]

    private var generator: SeededGenerator
    private var turns: Turns
    private var model: Model
    private var listeners: [Int: Listener] = [:]
    /// Watchers that left and may come back.
    private var away: [Listener] = []
    private var endings: [Ending] = []

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        var limits = Limits()
        limits.countdowns = 9
        if seed.isMultiple(of: 2) {
            // Ends are compacted under the watchers: none is held, whatever its age.
            limits.history = 10
            limits.endsHeldForWatches = -limits.history
        } else {
            // No end is compacted, and forgotten ends are held for the watchers.
            limits.historyAge = .years(1_000)
        }
        turns = Turns(limits: limits)
        model = Model(limits)
    }

    private var now: Now { turns.now }

    private mutating func draw(_ range: ClosedRange<Int64>) -> Int64 {
        .random(in: range, using: &generator)
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(draw(0...Int64(elements.count - 1)))]
    }

    /// A duration; often one that makes instants coincide.
    private mutating func span() -> Duration {
        switch draw(0...5) {
        case 0: .microseconds(draw(1...3_000))
        case 1: .seconds(draw(1...3))
        case 2: .milliseconds(100 * draw(1...100))
        case 3: .microseconds(draw(1...10_000_000))
        case 4: .minutes(draw(1...60))
        default: .milliseconds(draw(1...5_000))
        }
    }

    // MARK: Acts

    mutating func act() throws {
        switch draw(0...20) {
        case 0...6: try ask()
        case 7...8: try startAll()
        case 9...11: try run()
        case 12: try sleep()
        case 13: try setClock()
        case 14: try askInVain()
        case 15...16: try begin()
        case 17...19: try scan()
        default: try leave()
        }
        #expect(turns.alarm.map { $0 > now.wall } ?? true)
        try #require(Observation(of: turns.scene.timetable, at: now, under: Self.keys) == model.observation(at: now))
    }

    private mutating func ask() throws {
        let requests = (0..<draw(1...4)).map { _ in request() }
        try turn(requests)
    }

    private mutating func startAll() throws {
        let cooldowns = Set((0..<draw(1...4)).map { _ in pick(Self.keys) }).sorted { $0.text < $1.text }.map { key in
            let upTo = pick([nil, span() + span(), .seconds(90)])
            return Request.Start(
                key,
                pick([nil, .after(span()), .after(.zero)]),
                ifLive: upTo == nil ? .fail : .extend,
                forget: draw(0...3) == 0,
                upTo: upTo
            )
        }
        model.endDue(at: now)
        var together = model
        let verdicts = cooldowns.map { together.ask(.start($0), at: now) }
        let isAccepted = verdicts.allSatisfy { $0 == .changed }
        let isDryRun = draw(0...3) == 0
        let outcome = turns.turn(startingAll: cooldowns, dryRun: isDryRun)
        try #require((outcome == nil) == verdicts.contains(.refused))
        if isAccepted, !isDryRun { model = together }
        if let outcome {
            try #require(outcome.isAccepted == isAccepted)
            try #require(outcome.changes.count == (isAccepted && !isDryRun ? cooldowns.count : 0))
            let delays = verdicts.compactMap { verdict -> Int64?? in
                if case .alreadyRunning(let wait) = verdict { .some(wait) } else { nil }
            }
            let known = delays.compactMap(\.self)
            try #require(outcome.retryAfter?.microseconds == (known.count == delays.count ? known.max() : nil))
            for (cooldown, room) in zip(cooldowns, outcome.rooms) { try check(room, of: cooldown) }
        }
        model.compact(at: now)
        try hear()
    }

    /// As many starts are accepted as are left, one more after the time that is given, and not before.
    private func check(_ room: CooldownRoom, of cooldown: Request.Start) throws {
        let live = model.live[cooldown.key]
        try #require(room.key == cooldown.key && room.countdown == live?.countdown(cooldown.key))
        guard room.left <= 40 else { return }
        try #require(room.left == starts(of: cooldown, on: model, at: now))
        guard let more = room.more else {
            var free = model
            free.known[cooldown.key] = nil
            return try #require(live?.state == .paused || room.left == starts(of: cooldown, on: free, at: now))
        }
        for (span, left) in [(more - .microseconds(1), room.left), (more, room.left + 1)] {
            let later = Now(boot: now.boot + span, offset: now.offset)
            try #require(starts(of: cooldown, on: model, at: later) == left)
        }
    }

    /// How many starts a model accepts one after the other.
    private func starts(of cooldown: Request.Start, on model: Model, at now: Now) -> Int64 {
        var model = model
        model.endDue(at: now)
        var count: Int64 = 0
        while count < 50, model.ask(.start(cooldown), at: now) == .changed { count += 1 }
        return count
    }

    /// A turn whose requests cannot be stored.
    private mutating func askInVain() throws {
        model.endDue(at: now)
        turns.turnTakenBack((0..<draw(1...6)).map { _ in request() })
        model.compact(at: now)
        try hear()
    }

    private mutating func run() throws {
        try turn([])
        let end = now.boot + span().atMost(.seconds(2))
        while let alarm = turns.alarm, alarm - now.wall <= end - now.boot {
            turns.sleep(for: alarm - now.wall)
            try turn([], punctual: true)
        }
        turns.sleep(for: end - now.boot)
        try turn([], punctual: true)
    }

    /// Time passes without a turn; then more may be due than one turn delivers.
    private mutating func sleep() throws {
        turns.sleep(for: pick([span(), .hours(10), .days(3)]))
        for _ in 0..<draw(0...3) { try turn([], ticks: Int(draw(0...2))) }
        turns.sleep(for: span().atMost(.milliseconds(500)))
        try turn([])
    }

    private mutating func setClock() throws {
        let steps: [Duration] = [
            .microseconds(draw(1_000...9_000)), .milliseconds(draw(1...3_000)), .hours(1), .years(10),
        ]
        let isLate = now.wall.microseconds > 2_500_000_000_000_000
        let isEarly = now.wall.microseconds < 1_000_000_000_000_000
        let step = pick(steps)
        let back = isLate || (!isEarly && Bool.random(using: &generator))
        turns.setWall(by: back ? -step : step)
        let now = now
        for number in listeners.keys { listeners[number]?.clockWasSet(at: now) }
        try turn([])
    }

    private mutating func request() -> Request {
        let key = pick(Self.keys)
        let revision = pick([nil, nil, nil, model.known[key].map { Revision($0.revision) }, Revision(0)])
        switch draw(0...9) {
        case 0...4: return .start(start(key))
        case 5: return .cancel(key, ifRevision: revision)
        case 6: return .finish(key, ifRevision: revision)
        case 7: return .pause(key, ifRevision: revision)
        case 8: return .resume(key, ifRevision: revision)
        default: return .adjust(key, adjustment(), ifRevision: revision)
        }
    }

    private mutating func start(_ key: Key) -> Request.Start {
        let ends: [Request.End?] = [nil, .after(span()), .at(now.wall + span()), .after(.zero), .at(now.wall)]
        let ifLive: Request.IfLive = pick([.attach, .restart, .restart, .extend, .extend, .later, .later, .wait, .fail])
        let hasUpTo = ifLive == .extend || ifLive == .wait ? draw(0...1) == 0 : draw(0...9) == 0
        return Request.Start(
            key,
            ends[Int(min(draw(0...12) / 3, draw(0...4)))],
            ifLive: ifLive,
            label: pick([nil, "tea"]),
            metadata: pick([nil, ["a": "b"]]),
            forget: draw(0...3) == 0,
            upTo: hasUpTo ? pick([span() + span(), .seconds(90), .zero]) : nil,
            maxDuration: draw(0...9) < (ifLive == .later ? 5 : 1) ? pick([span() + span(), .seconds(90)]) : nil
        )
    }

    private mutating func adjustment() -> Request.Adjustment {
        switch draw(0...3) {
        case 0: .by(-span())
        case 1: .by(.microseconds(pick([0, -1 << 60, 1 << 60, 3_155_760_000_000_000])))
        case 2: .to(now.wall + span())
        default: .by(span())
        }
    }

    // MARK: A turn

    private mutating func turn(_ requests: [Request], ticks limit: Int = .max, punctual: Bool = false) throws {
        model.endDue(at: now)
        let verdicts = requests.map { model.ask($0, at: now) }
        let outcomes = turns.turn(requests, ticks: limit)
        for (verdict, outcome) in zip(verdicts, outcomes) {
            try #require(verdict.agrees(with: outcome), "\(verdict), not \(outcome)")
        }
        model.compact(at: now)
        try hear(punctual: punctual, ticks: limit == .max)
    }

    /// Hands each watcher its events, and checks that they are complete.
    private mutating func hear(punctual: Bool = false, ticks: Bool = true) throws {
        endings += turns.endings.map { Ending(revision: $0.revision, key: $0.key, forget: $0.forget) }
        let known = model.live.reduce(into: [:]) { $0[$1.key] = $1.value.countdown($1.key) }
        for (number, listener) in listeners {
            var listener = listener
            let wasOpen = listener.isOpen
            for note in turns.heard(by: number) { try listener.hear(note, punctual: punctual) }
            listeners[number] = listener
            if listener.hasMissed {
                try #require(endings.contains { $0.mayBeMissed(by: listener) && isLost($0) })
                listeners[number] = nil
            } else if listener.isOpen {
                if !wasOpen { try requireAll(of: &listener) }
                listeners[number] = listener
                try #require(listener.live == known.filter { listener.selection.contains($0.key) })
                if ticks { try listener.requireTicks(at: now) }
            }
        }
        turns.forget()
    }

    /// A watcher at the end of its scan has received every end that can be delivered to it.
    private func requireAll(of listener: inout Listener) throws {
        try #require(listener.endings == told(to: listener).map(\.revision))
        guard let since = listener.since else { return }
        for ending in endings where ending.forget && ending.revision > since && ending.revision <= listener.begun {
            listener.forget(ending.key, endedAt: ending.revision)
        }
    }

    /// The ends that a watcher must receive before it is open.
    private func told(to listener: Listener) -> [Ending] {
        endings.filter { $0.isAhead(of: listener) && listener.selection.contains($0.key) }
    }

    private func isLost(_ ending: Ending) -> Bool {
        ending.forget || ending.revision <= Revision(model.oldest)
    }

    // MARK: Watchers

    private mutating func begin() throws {
        let number = Int(draw(1...5))
        try leave(number)
        let revision = turns.scene.timetable.revision
        if !away.isEmpty, Bool.random(using: &generator) {
            let before = away.remove(at: Int(draw(0...Int64(away.count - 1))))
            let canResume = turns.scene.canResume(after: before.newest)
            try #require(canResume == (before.newest.number >= model.oldest))
            guard canResume else { return }
            listeners[number] = Listener(before.selection, every: before.interval, at: revision, after: before)
        } else {
            listeners[number] = Listener(pick(Self.selections), every: pick(Self.intervals), at: revision)
        }
        guard let listener = listeners[number] else { return }
        turns.begin(number, listener.selection, every: listener.interval, since: listener.since)
    }

    private mutating func scan() throws {
        let number = Int(draw(1...5))
        turns.scan(number, limit: Int(pick([1, 2, 5, 100])))
        try hear()
    }

    private mutating func leave() throws {
        try leave(Int(draw(1...5)))
    }

    private mutating func leave(_ number: Int) throws {
        turns.leave(number)
        guard let listener = listeners.removeValue(forKey: number), listener.isOpen else { return }
        away.append(listener)
        if away.count > 5 { away.removeFirst() }
    }
}

extension Duration {
    fileprivate func atMost(_ other: Duration) -> Duration { min(self, other) }
}
