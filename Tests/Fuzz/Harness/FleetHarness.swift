import CountdownCore
import Fleet

/// Whatever a bridge reports in whatever order, each call has one result, and a record that is read is the same after a round
/// trip.
public enum FleetHarness: Harness {
    /// Checks one input.
    public static func check(_ input: inout Input) {
        var trial = FleetTrial()
        while !input.isAtEnd { trial.act(&input) }
        trial.finish()
    }
}

/// A host with a bridge that says what the input wants.
private struct FleetTrial: ~Copyable {
    private static let keys: [Key] = ["a", "b", "login/+8613800138000"].compactMap { try? Key($0) }

    private var member: Member
    private var timetable = Timetable(limits: Limits(), revision: Revision(10))
    private var boot: Int64 = 1_000_000
    private var outstanding: [[Proposal]] = []
    private var ids: [ProposalID] = [ProposalID("0000000000000000000000000000000a.1")].compactMap { $0 }
    private var lastCall = 0
    /// The calls without a result; `waiting` has the calls among them that may wait for their turn.
    private var unanswered: Set<Int> = []
    private var waiting: Set<Int> = []

    init() {
        member = Member(host: HostID(1, 2), random: SystemRandomNumberGenerator())
        member.open(&timetable)
    }

    private var now: Now {
        Now(boot: BootInstant(microseconds: boot), offset: Duration(microseconds: 1_700_000_000_000_000))
    }

    mutating func act(_ input: inout Input) {
        while timetable.expireNext(at: now) != nil {}
        switch input.next() % 8 {
        case 0, 1: call(&input)
        case 2: boot += Int64(input.nextInteger() % 3_000_000)
        case 3: member.open(&timetable)
        case 4: answer(&input)
        case 5: readRecord(&input)
        default: member.receive(event(&input), &timetable, at: now)
        }
        step()
    }

    private mutating func step() {
        while timetable.expireNext(at: now) != nil {}
        var budget = 8
        member.serve(&timetable, at: now, budget: &budget)
        while case let proposals = member.takeProposals(), !proposals.isEmpty {
            outstanding.append(proposals)
            ids += proposals.map(\.id)
        }
        for (number, _) in member.takeOutput().results {
            expect(unanswered.remove(number) != nil, "call \(number) has one result")
            waiting.remove(number)
        }
        expect(member.calls == unanswered.count, "every call without a result is counted")
    }

    /// Loses the bridge for good: every call that does not wait for its turn has its result in time.
    mutating func finish() {
        member.receive(.lost("the end"), &timetable, at: now)
        for proposals in outstanding {
            member.receive(proposals.map { _ in .unknown("the end") }, to: proposals, &timetable, at: now)
        }
        outstanding = []
        boot += 3_000_000
        for _ in 0..<64 { step() }
        expect(unanswered.isSubset(of: waiting), "no call waits for more than 2 s")
    }

    // MARK: Calls and answers

    private mutating func call(_ input: inout Input) {
        let choice = input.next()
        let key = Self.keys[Int(choice >> 4) % Self.keys.count]
        lastCall += 1
        unanswered.insert(lastCall)
        let ifLive: [Request.IfLive] = [.attach, .restart, .extend, .fail, .wait]
        let kind = ifLive[Int(input.next()) % ifLive.count]
        let span = Duration(microseconds: Int64(input.next()) * 20_000 + 1)
        let request: Request =
            switch choice % 6 {
            case 0: .cancel(key)
            case 1: .pause(key)
            case 2: .resume(key)
            case 3: .adjust(key, .by(span))
            default: .start(Request.Start(key, .after(span), ifLive: kind, forget: choice & 8 != 0))
            }
        if case .start(let start) = request, start.ifLive == .wait { waiting.insert(lastCall) }
        member.call(lastCall, request, at: now)
    }

    private mutating func answer(_ input: inout Input) {
        guard !outstanding.isEmpty else { return }
        let proposals = outstanding.remove(at: Int(input.next()) % outstanding.count)
        let count = Int(input.next()) % (proposals.count + 2)
        var answers: [Answer] = []
        for proposal in proposals.prefix(count) { answers.append(answer(to: proposal, &input)) }
        member.receive(answers, to: proposals, &timetable, at: now)
    }

    private func answer(to proposal: Proposal, _ input: inout Input) -> Answer {
        switch input.next() % 8 {
        case 0: .early
        case 1: .late
        case 2: .unknown("unknown")
        case 3: .unreachable("unreachable")
        case 4: .conflict(nil)
        case 5: .conflict(entry(&input, of: proposal.key))
        case 6: .unacknowledged(version(&input))
        default: .won(version(&input))
        }
    }

    // MARK: The stream

    private func event(_ input: inout Input) -> LogCursor.Event {
        switch input.next() % 8 {
        case 0: .resumed
        case 1: .trimmed
        case 2: .diverged
        case 3: .page(entries(&input), LogCursor.Position(version: version(&input), id: id(&input)))
        case 4: .lost("lost")
        case 5: .live
        default: .changes(entries(&input))
        }
    }

    private func entries(_ input: inout Input) -> [LogEntry] {
        var entries: [LogEntry] = []
        for _ in 0..<input.next() % 4 {
            entries.append(entry(&input, of: Self.keys[Int(input.next()) % Self.keys.count]))
        }
        return entries
    }

    private func entry(_ input: inout Input, of key: Key) -> LogEntry {
        LogEntry(key: key, version: version(&input), id: id(&input) ?? .foreign, record: record(&input))
    }

    /// Near the place that the host knows, or anywhere.
    private func version(_ input: inout Input) -> LogVersion {
        let distance = Int64(input.next())
        guard distance < 250 else { return LogVersion(Int64(bitPattern: input.nextInteger())) }
        return LogVersion((member.cursor.position?.version.number ?? 100) &+ distance / 8 &- 3)
    }

    private func id(_ input: inout Input) -> ProposalID? {
        let number = Int(input.next())
        return number == 255 ? nil : ids[number % ids.count]
    }

    /// No record, a record that a host has proposed, or a record that no host writes.
    private func record(_ input: inout Input) -> [UInt8]? {
        let choice = input.next()
        let proposed = outstanding.joined().compactMap(\.record)
        switch choice % 4 {
        case 0: return nil
        case 1: return Array(#"{"kind":"started"}"#.utf8)
        case 2 where !proposed.isEmpty: return proposed[Int(choice / 4) % proposed.count]
        default:
            let deadline = now.wall.microseconds + Int64(choice) * 50_000 - 3_000_000
            let record =
                #"{"kind":"started","state":"running","clock":"elapsed","duration":1,"deadline":\#(deadline),"start":1}"#
            return Array(record.utf8)
        }
    }

    private func readRecord(_ input: inout Input) {
        let bytes = input.rest().bytes
        guard let key = try? Key("k"), let record = try? Record(json: bytes, under: key) else { return }
        expect((try? Record(json: record.json, under: key)) == record, "a record is the same after a round trip")
    }
}
