import CountdownCore

/// Requests, time and clocks in any order: the timetable agrees with a dictionary of the live countdowns.
public enum TimetableHarness: Harness {
    /// Checks one input.
    public static func check(_ input: inout Input) {
        var trial = TimetableTrial()
        while !input.isAtEnd { trial.act(&input) }
        trial.checkAll()
    }
}

/// A timetable, and the model that it must agree with.
private struct TimetableTrial: ~Copyable {
    private static let keys: [Key] = ["a", "b", "c", "login/+8613800138000", "a key of more than 24 bytes"].compactMap {
        try? Key($0)
    }

    private var timetable: Timetable
    private var boot: Int64 = 1_000
    private var offset: Int64 = 1_700_000_000_000_000
    /// The live countdowns after their last change.
    private var live: [Key: KeyedCountdown] = [:]

    init() {
        var limits = Limits()
        limits.countdowns = 4
        limits.history = 6
        timetable = Timetable(limits: limits, revision: Revision(10))
    }

    private var now: Now { Now(boot: BootInstant(microseconds: boot), offset: Duration(microseconds: offset)) }

    mutating func act(_ input: inout Input) {
        let act = input.next()
        switch act % 11 {
        case 0...5: ask(request(act, &input), takesBack: act & 0x80 != 0)
        case 6: boot += Int64(input.nextInteger() % 10_000_000)
        case 7: offset = Int64(input.nextInteger() % (1 << 51))
        case 8: trim(Int(input.next()))
        case 9: startAll(&input)
        default: boot += Int64(input.next())
        }
        endDue()
        checkDeadline()
    }

    private mutating func request(_ act: UInt8, _ input: inout Input) -> Request {
        let key = Self.keys[Int(input.next()) % Self.keys.count]
        let span = Duration(microseconds: Int64(bitPattern: input.nextInteger()) >> Int64(input.next() & 63))
        let revision = input.next() == 1 ? timetable.revision : nil
        switch act % 6 {
        case 0:
            let choice = input.next()
            let ifLive: [Request.IfLive] =
                choice & 64 == 0 ? [.attach, .restart, .extend, .fail] : [.wait, .extend, .later]
            let end: Request.End = choice & 4 == 0 ? .after(span) : .at(now.wall + span)
            let (label, forget) = (choice & 8 == 0 ? nil : "label", choice & 16 != 0)
            let kind = ifLive[Int(choice & 3) % ifLive.count]
            let bound = choice & 32 == 0 ? nil : span + span
            let (upTo, most) = kind == .later ? (nil, bound) : (bound, nil)
            return .start(.init(key, end, ifLive: kind, label: label, forget: forget, upTo: upTo, maxDuration: most))
        case 1: return .cancel(key, ifRevision: revision)
        case 2: return .finish(key, ifRevision: revision)
        case 3: return .pause(key, ifRevision: revision)
        case 4: return .resume(key, ifRevision: revision)
        default: return .adjust(key, act & 0x40 == 0 ? .by(span) : .to(now.wall + span), ifRevision: revision)
        }
    }

    private mutating func ask(_ request: Request, takesBack: Bool) {
        let before = timetable.revision
        guard let decision = try? timetable.decide(request, at: now), case .change(let change) = decision else {
            return expect(timetable.revision == before, "what is refused changes nothing")
        }
        let applied = timetable.apply(change)
        expect(timetable.revision > before, "every change has a revision of its own")
        guard takesBack else { return note(change.countdown) }
        timetable.undo(applied)
        expect(timetable.revision == before, "what is taken back leaves no revision")
    }

    private mutating func startAll(_ input: inout Input) {
        let span = Duration(microseconds: Int64(bitPattern: input.nextInteger()) >> Int64(input.next() & 63))
        let choice = Int(input.next())
        let cooldowns = Self.keys.prefix(1 + choice % 4).map { key in
            let upTo = choice & 16 == 0 ? span + span : nil
            return Request.Start(key, .after(span), ifLive: upTo == nil ? .fail : .extend, upTo: upTo)
        }
        let before = timetable.revision
        let outcome = try? timetable.startAll(cooldowns, dryRun: choice & 32 != 0, at: now)
        for change in outcome?.changes ?? [] { note(change.countdown) }
        let count = Int64(outcome?.changes.count ?? 0)
        expect(timetable.revision.number == before.number + count, "each change has a revision, and nothing else has")
        for room in outcome?.rooms ?? [] {
            expect(room.left >= 0 && room.more ?? span > .zero, "\(room) is possible")
        }
    }

    private mutating func endDue() {
        while let change = timetable.expireNext(at: now) {
            guard case .running(let deadline) = live[change.countdown.key]?.phase else {
                return expect(false, "\(change) was running")
            }
            expect(deadline.remaining(at: now) <= .zero, "\(change) was due")
            note(change.countdown)
        }
    }

    private mutating func note(_ countdown: KeyedCountdown) {
        live[countdown.key] = countdown.isLive ? countdown : nil
    }

    private mutating func trim(_ limit: Int) {
        var left = limit
        _ = timetable.compact(at: now, budget: &left)
    }

    private func checkDeadline() {
        let deadlines = live.values.compactMap { countdown -> WallInstant? in
            guard case .running(let deadline) = countdown.phase else { return nil }
            return deadline.wall(at: now)
        }
        expect(timetable.nextDeadline(at: now) == deadlines.min(), "the next deadline is the earliest")
        expect(timetable.liveCount == live.count, "\(timetable.liveCount) are live")
        expect(timetable.runningCount == deadlines.count, "\(timetable.runningCount) run")
    }

    mutating func checkAll() {
        for key in Self.keys {
            let known = timetable.countdown(under: key)
            if let expected = live[key] { expect(known == expected, "\(expected) is known, not \(known as Any)") }
            if live[key] == nil { expect(known?.isLive != true, "\(key.text) is not live") }
        }
        var visited: [KeyedCountdown] = []
        let scan = timetable.openScan(live: .oldest, ended: .nowhere)
        var limit = 1_000
        _ = timetable.scan(scan, budget: &limit) { timetable, slot in
            visited.append(timetable[slot])
            return true
        }
        timetable.closeScan(scan)
        expect(visited == live.values.sorted { $0.revision < $1.revision }, "a scan visits all, in their order")
    }
}
