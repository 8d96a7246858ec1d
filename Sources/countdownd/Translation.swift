public import CountdownCore
import Fleet
import IPC
public import Varlink

/// The methods of the daemon, in the order of `Translation.service`.
enum ServedMethod: Int, CaseIterable {
    case start, startAll, get, list, cancel, finish, pause, resume, adjust, wait, watch, getStatus
    case ping, setLogLevel
}

/// Translates between the interface and the core. Only this file imports both.
///
/// Parameters are checked here as far as that is possible without knowing the countdowns.
///
/// A class, because a copy of the limits for each call would take 60 instructions.
final class Translation: Sendable {
    /// The daemon's description of itself, one for all sessions.
    static let service = ServiceDescription(
        vendor: "countdownd",
        product: "countdownd",
        version: Version.current,
        // No web page fits every build.
        url: "",
        interfaces: [Interface.description, LogLevelService.description]
    )

    let limits: Limits

    init(limits: Limits) { self.limits = limits }

    /// Decodes a call; the reader has entered its parameters.
    func request(in call: Call, reading parameters: inout JSONReader) throws -> ClientRequest {
        switch ServedMethod(rawValue: call.number) {
        case .start: return .change(.start(try start(&parameters)))
        case .startAll: return try startAll(StartAll(from: &parameters))
        case .get: return .countdown(try Get.read(from: &parameters))
        case .list: return .list(try list(List(from: &parameters)))
        case .cancel: return .change(try change(Cancel(from: &parameters)) { .cancel($0, ifRevision: $1) })
        case .finish: return .change(try change(Finish(from: &parameters)) { .finish($0, ifRevision: $1) })
        case .pause: return .change(try change(Pause(from: &parameters)) { .pause($0, ifRevision: $1) })
        case .resume: return .change(try change(Resume(from: &parameters)) { .resume($0, ifRevision: $1) })
        case .adjust: return .change(try adjust(Adjust(from: &parameters)))
        case .wait: return .wait(try Wait.read(from: &parameters))
        case .watch:
            let watch = try Watch(from: &parameters)
            guard call.more else { throw ServiceError.expectedMore }
            return .watch(try self.watch(watch))
        case .getStatus:
            _ = try GetStatus(from: &parameters)
            return .status
        case .ping:
            try parameters.members { _ in false }
            return .ping
        case .setLogLevel: return .logLevel(try LogLevelService.level(from: &parameters))
        case nil: throw ServiceError.methodNotImplemented(call.method)
        }
    }

    private func start(_ parameters: inout JSONReader) throws -> Request.Start {
        let (key, start) = try Start.read(from: &parameters, keyAs: Key.self)
        guard start.durationUSec == nil || start.deadlineUSec == nil else { throw InvalidParameter("deadlineUSec") }
        let duration = start.durationUSec.map { Request.End.after(Duration(microseconds: $0)) }
        let deadline = start.deadlineUSec.map { Request.End.at(WallInstant(microseconds: $0)) }
        return Request.Start(
            key,
            duration ?? deadline,
            ifLive: ifLive(start.ifRunning ?? .attach),
            label: start.label,
            metadata: start.metadata.map { Metadata($0) },
            forget: start.forget ?? false,
            upTo: start.upToUSec.map { Duration(microseconds: $0) },
            maxDuration: start.maxDurationUSec.map { Duration(microseconds: $0) },
            queueUpTo: start.queueUpTo
        )
    }

    private func startAll(_ method: StartAll) throws -> ClientRequest {
        let starts = try method.cooldowns.map { cooldown in
            Request.Start(
                try key(cooldown.key),
                cooldown.durationUSec.map { .after(Duration(microseconds: $0)) },
                ifLive: cooldown.upToUSec == nil ? .fail : .extend,
                label: cooldown.label,
                metadata: cooldown.metadata.map { Metadata($0) },
                forget: cooldown.forget ?? false,
                upTo: cooldown.upToUSec.map { Duration(microseconds: $0) }
            )
        }
        guard starts.count <= limits.cooldowns, Set(starts.map(\.key)).count == starts.count else {
            throw InvalidParameter("cooldowns")
        }
        return .startAll(starts, dryRun: method.dryRun ?? false)
    }

    private func ifLive(_ ifRunning: IfRunning) -> Request.IfLive {
        switch ifRunning {
        case .attach: .attach
        case .restart: .restart
        case .extend: .extend
        case .later: .later
        case .fail: .fail
        case .wait: .wait
        }
    }

    private func change(_ method: some ChangeMethod, _ make: (Key, Revision?) -> Request) throws -> Request {
        make(try key(method.key), method.ifRevision.map(Revision.init))
    }

    private func adjust(_ adjust: Adjust) throws -> Request {
        let key = try key(adjust.key)
        let revision = adjust.ifRevision.map(Revision.init)
        switch (adjust.byUSec, adjust.deadlineUSec) {
        case (let duration?, nil): return .adjust(key, .by(Duration(microseconds: duration)), ifRevision: revision)
        case (nil, let instant?): return .adjust(key, .to(WallInstant(microseconds: instant)), ifRevision: revision)
        case (nil, nil): throw InvalidParameter("byUSec")
        case (_?, _?): throw InvalidParameter("deadlineUSec")
        }
    }

    private func list(_ list: List) throws -> ListRequest {
        if let soonest = list.soonest {
            guard soonest >= 0 else { throw InvalidParameter("soonest") }
            guard soonest <= limits.soonest else { throw limitReached("soonest", limits.soonest) }
        }
        return ListRequest(
            selection: try selection(match: list.match, keys: list.keys),
            states: list.states?.map(state) ?? [.running, .paused],
            soonest: list.soonest.map { Int($0) }
        )
    }

    private func state(_ state: Countdown.State) -> CountdownState {
        switch state {
        case .running: .running
        case .paused: .paused
        case .finished: .finished
        case .cancelled: .cancelled
        }
    }

    private func watch(_ watch: Watch) throws -> WatchRequest {
        let tick = Duration(microseconds: watch.tickUSec ?? 1_000_000)
        guard tick == .zero || (limits.shortestTick...limits.longestDuration).contains(tick) else {
            throw InvalidParameter("tickUSec")
        }
        let heartbeat = watch.heartbeatUSec.map { Duration(microseconds: $0) }
        if let heartbeat, !(limits.shortestHeartbeat...limits.longestDuration).contains(heartbeat) {
            throw InvalidParameter("heartbeatUSec")
        }
        if let since = watch.since, since < 0 { throw InvalidParameter("since") }
        return WatchRequest(
            selection: try selection(match: watch.match, keys: watch.keys),
            tick: tick == .zero ? nil : tick,
            since: watch.since.map(Revision.init),
            heartbeat: heartbeat
        )
    }

    private func selection(match: [String]?, keys: [String]?) throws -> Selection {
        guard match != nil || keys != nil else { return .everything }
        let match = match ?? []
        guard match.count <= limits.patterns else { throw limitReached("patterns", limits.patterns) }
        guard match.allSatisfy({ $0.utf8.count <= limits.patternBytes }) else {
            throw limitReached("patternBytes", limits.patternBytes)
        }
        let known = try (keys ?? []).map { try key($0, in: "keys") }
        do {
            return Selection(keys: Set(known), patterns: try match.map { try Pattern($0) })
        } catch {
            throw InvalidParameter("match")
        }
    }

    private func key(_ text: String, in parameter: String = "key") throws(InvalidParameter) -> Key {
        do { return try Key(text) } catch { throw InvalidParameter(parameter) }
    }

    func limitReached(_ limit: String, _ maximum: Int) -> any ReplyError {
        CountdownError.limitReached(limit: limit, maximum: Int64(maximum))
    }
}

/// Makes keys of the bytes of a call, without a string in between.
extension Key: JSONReadable {
    /// Reads a key; nil if the value is not a valid one.
    public static func read(from reader: inout JSONReader) -> Key? { reader.withString { try? Key($0) } }
}

/// Encodes replies, errors and events.
extension Translation {
    /// Writes the reply to a request that has made a change, or, if the kind is nil, has found the countdown.
    func write(
        _ kind: Change.Kind?,
        of request: Request,
        _ countdown: KeyedCountdown,
        at now: Now,
        into writer: inout JSONWriter
    ) {
        guard case .start = request else { return write(countdown, at: now, into: &writer) }
        Start.Reply.encode(into: &writer, outcome: outcome(kind)) { countdown.encode(at: now, into: &$0) }
    }

    /// Writes the reply to `Get` and `Wait`.
    func write(_ countdown: KeyedCountdown, at now: Now, into writer: inout JSONWriter) {
        CountdownReply.encode(into: &writer) { countdown.encode(at: now, into: &$0) }
    }

    /// Writes the reply to `StartAll`.
    func write(
        _ accepted: Bool,
        _ rooms: [CooldownRoom],
        _ retryAfter: Duration?,
        at now: Now,
        into writer: inout JSONWriter
    ) {
        let rooms = rooms.map { room in
            Cooldown.Room(
                key: room.key.text,
                left: room.left,
                moreUSec: room.more?.microseconds,
                countdown: room.countdown.map { countdown($0, at: now) }
            )
        }
        StartAll.Reply(accepted: accepted, rooms: rooms, retryAfterUSec: retryAfter?.microseconds).encode(into: &writer)
    }

    private func outcome(_ kind: Change.Kind?) -> Countdown.Outcome {
        switch kind {
        case nil: .attached
        case .started: .started
        case .restarted: .restarted
        default: .extended
        }
    }

    /// The error reply for a request that was refused.
    func error(_ refusal: Refusal, at now: Now) -> any ReplyError {
        switch refusal {
        case .noSuchCountdown(let key): CountdownError.noSuchCountdown(key: key.text)
        case .alreadyRunning(let countdown, let retryAfter):
            CountdownError.alreadyRunning(
                self.countdown(countdown, at: now),
                retryAfter: retryAfter.map { .microseconds($0.microseconds) }
            )
        case .revisionMismatch(let countdown): CountdownError.revisionMismatch(self.countdown(countdown, at: now))
        case .wrongState(let countdown): CountdownError.wrongState(self.countdown(countdown, at: now))
        case .limitReached(let limit, let maximum): limitReached("\(limit)", maximum)
        case .outOfRange(.duration): InvalidParameter("durationUSec")
        case .outOfRange(.deadline): InvalidParameter("deadlineUSec")
        case .outOfRange(.adjustment): InvalidParameter("byUSec")
        case .outOfRange(.upTo): InvalidParameter("upToUSec")
        case .outOfRange(.maxDuration): InvalidParameter("maxDurationUSec")
        case .outOfRange(.queueUpTo): InvalidParameter("queueUpTo")
        }
    }

    func historyTrimmed(oldest: Revision) -> some ReplyError {
        CountdownError.historyTrimmed(oldestRevision: oldest.number)
    }

    func storageFailed(_ reason: String) -> some ReplyError { CountdownError.storageFailed(reason: reason) }

    func unreachable(_ reason: String) -> some ReplyError { CountdownError.unreachable(reason: reason) }

    /// Writes a countdown as an element of a list.
    func write(element countdown: KeyedCountdown, at now: Now, into writer: inout JSONWriter) {
        writer.object { countdown.encode(at: now, into: &$0) }
    }

    /// Writes the event of a change, once for all of its watchers.
    func write(_ change: Change, at now: Now, into writer: inout JSONWriter) {
        let countdown = change.countdown
        write(type(of: change.kind), countdown, revision: countdown.revision, at: now, into: &writer)
    }

    /// Writes a tick, once for all of its watchers.
    func write(tickOf key: Key, remaining: Duration, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("type", Event.Kind.tick)
            key.withBytes { writer.member("key", utf8: $0) }
            writer.member("remainingUSec", remaining.microseconds)
        }
    }

    /// Writes an event.
    func write(_ event: DeliveredEvent, at now: Now, into writer: inout JSONWriter) {
        switch event {
        case .current(let countdown):
            let revision = countdown.isLive ? nil : countdown.revision
            write(type(of: countdown), countdown, revision: revision, at: now, into: &writer)
        case .clockWasSet(let countdown): write(.adjusted, countdown, revision: nil, at: now, into: &writer)
        case .synced(let revision): write(.synced, revision, into: &writer)
        case .heartbeat(let revision): write(.heartbeat, revision, into: &writer)
        }
    }

    private func write(_ type: Event.Kind, _ revision: Revision, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("type", type)
            writer.member("revision", revision.number)
        }
    }

    private func write(
        _ type: Event.Kind,
        _ countdown: KeyedCountdown,
        revision: Revision?,
        at now: Now,
        into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("type", type)
            writer.memberIfPresent("revision", revision?.number)
            countdown.key.withBytes { writer.member("key", utf8: $0) }
            writer.member("remainingUSec", countdown.remaining(at: now).microseconds)
            if case .finished(_, let late) = countdown.phase { writer.member("lateUSec", late.microseconds) }
            writer.member("countdown", object: { countdown.encode(at: now, into: &$0) })
        }
    }

    private func type(of countdown: KeyedCountdown) -> Event.Kind {
        switch countdown.phase {
        case .running, .paused: .attached
        case .finished: .finished
        case .cancelled: .cancelled
        }
    }

    private func type(of kind: Change.Kind) -> Event.Kind {
        switch kind {
        case .started: .started
        case .restarted: .restarted
        case .adjusted: .adjusted
        case .paused: .paused
        case .resumed: .resumed
        case .finished: .finished
        case .cancelled: .cancelled
        }
    }

    private func countdown(_ countdown: KeyedCountdown, at now: Now) -> Countdown {
        Countdown(
            key: countdown.key.text,
            state: countdown.state,
            clock: countdown.clock == .elapsed ? .elapsed : .wall,
            durationUSec: countdown.duration(at: now).microseconds,
            remainingUSec: countdown.remaining(at: now).microseconds,
            startedUSec: countdown.started.microseconds,
            deadlineUSec: countdown.deadline(at: now)?.microseconds,
            endedUSec: countdown.ended?.microseconds,
            label: countdown.label,
            metadata: countdown.metadata.isEmpty ? nil : TextMap(countdown.metadata.pairs),
            forget: countdown.forget,
            revision: countdown.revision.number
        )
    }
}

extension KeyedCountdown {
    /// Writes the members of a ``Countdown`` without making one, which would copy its texts.
    fileprivate func encode(at now: Now, into writer: inout JSONWriter) {
        key.withBytes { writer.member("key", utf8: $0) }
        writer.member("state", state)
        writer.member("clock", clock == .elapsed ? Countdown.Clock.elapsed : .wall)
        writer.member("durationUSec", duration(at: now).microseconds)
        writer.member("remainingUSec", remaining(at: now).microseconds)
        writer.member("startedUSec", started.microseconds)
        writer.memberIfPresent("deadlineUSec", deadline(at: now)?.microseconds)
        writer.memberIfPresent("endedUSec", ended?.microseconds)
        if hasAnnotations {
            writer.memberIfPresent("label", label)
            if !metadata.isEmpty { writer.member("metadata", metadata) }
        }
        writer.member("forget", forget)
        writer.member("revision", revision.number)
    }

    fileprivate var state: Countdown.State {
        switch phase {
        case .running: .running
        case .paused: .paused
        case .finished: .finished
        case .cancelled: .cancelled
        }
    }

    fileprivate func deadline(at now: Now) -> WallInstant? {
        guard case .running(let deadline) = phase else { return nil }
        return deadline.wall(at: now)
    }
}
