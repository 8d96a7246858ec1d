import CountdownCore
import IPC
import Varlink

/// Between the interface and the core: the only place that knows both.
///
/// What comes in is checked here, as far as it can be without knowing the countdowns; what goes out is written in the
/// file beside this one.
struct Translation {
    /// What the daemon says of itself; one for all sessions.
    static let service = ServiceDescription(
        vendor: "countdownd",
        product: "countdownd",
        version: Version.current,
        // No page is there that every build could name, and one that is made up would be worse than none.
        url: "",
        interfaces: [Interface.description]
    )

    let policy: Policy

    /// What a call of the interface asks for.
    func asked(by call: Call) throws -> Asked {
        switch call.name {
        case Start.name: return .change(.start(try start(call.parameters)))
        case Get.name: return .countdown(try key(of: Get.self, in: call.parameters))
        case List.name: return .list(try list(List(decoding: call.parameters)))
        case Cancel.name: return .change(try change(Cancel(decoding: call.parameters)) { .cancel($0, ifRevision: $1) })
        case Finish.name: return .change(try change(Finish(decoding: call.parameters)) { .finish($0, ifRevision: $1) })
        case Pause.name: return .change(try change(Pause(decoding: call.parameters)) { .pause($0, ifRevision: $1) })
        case Resume.name: return .change(try change(Resume(decoding: call.parameters)) { .resume($0, ifRevision: $1) })
        case Adjust.name: return .change(try adjust(Adjust(decoding: call.parameters)))
        case Wait.name: return .wait(try key(of: Wait.self, in: call.parameters))
        case Watch.name:
            let watch = try Watch(decoding: call.parameters)
            guard call.more else { throw ServiceError.expectedMore }
            return .watch(try self.watch(watch))
        case GetStatus.name:
            _ = try GetStatus(decoding: call.parameters)
            return .status
        default: throw ServiceError.methodNotImplemented(call.method)
        }
    }

    /// Lets the session answer at once what is asked once more with another key.
    func expectRepetitions(in session: inout ServerSession) { session.expectRepetitions(by: "key") }

    /// Answers calls for as long as each is the last one once more, with another key, up to the first one that the closure
    /// leaves alone, and tells how many: see `ServerSession.answerRepetitions`.
    @inline(__always)
    func answerRepetitions(
        in session: inout ServerSession,
        atMost limit: Int,
        _ write: (Key, inout JSONWriter) -> Bool
    ) -> Int {
        session.answerRepetitions(atMost: limit, whileUnsent: policy.pageBytes) { text, writer in
            guard let key = try? Key(text) else { return false }
            return write(key, &writer)
        }
    }

    private func start(_ parameters: JSONObject) throws -> Request.Start {
        var key: Key?
        let start = try Start.keyless(in: parameters) { key = try? Key($0) }
        guard start.durationUSec == nil || start.deadlineUSec == nil else { throw InvalidParameter("deadlineUSec") }
        let length = start.durationUSec.map { Request.End.after(Duration(microseconds: $0)) }
        let deadline = start.deadlineUSec.map { Request.End.at(WallInstant(microseconds: $0)) }
        guard let key else { throw InvalidParameter("key") }
        return Request.Start(
            key,
            length ?? deadline,
            ifLive: ifLive(start.ifRunning ?? .attach),
            label: start.label,
            metadata: start.metadata,
            forget: start.forget ?? false
        )
    }

    private func ifLive(_ ifRunning: IfRunning) -> Request.IfLive {
        switch ifRunning {
        case .attach: .attach
        case .restart: .restart
        case .extend: .extend
        case .fail: .fail
        }
    }

    private func change(_ method: some ChangeMethod, _ make: (Key, Revision?) -> Request) throws -> Request {
        make(try key(method.key), method.ifRevision.map(Revision.init))
    }

    private func adjust(_ adjust: Adjust) throws -> Request {
        let key = try key(adjust.key)
        let revision = adjust.ifRevision.map(Revision.init)
        switch (adjust.byUSec, adjust.deadlineUSec) {
        case (let span?, nil): return .adjust(key, .by(Duration(microseconds: span)), ifRevision: revision)
        case (nil, let instant?): return .adjust(key, .to(WallInstant(microseconds: instant)), ifRevision: revision)
        case (nil, nil): throw InvalidParameter("byUSec")
        case (_?, _?): throw InvalidParameter("deadlineUSec")
        }
    }

    private func list(_ list: List) throws -> ListQuestion {
        if let soonest = list.soonest {
            guard soonest >= 0 else { throw InvalidParameter("soonest") }
            guard soonest <= policy.soonest else { throw limitReached("soonest", policy.soonest) }
        }
        return ListQuestion(
            selection: try selection(match: list.match, keys: list.keys),
            states: list.states.map { $0.reduce(into: []) { $0.insert(state($1)) } } ?? .live,
            soonest: list.soonest.map { Int($0) }
        )
    }

    private func state(_ state: State) -> ListQuestion.States {
        switch state {
        case .running: .running
        case .paused: .paused
        case .finished: .finished
        case .cancelled: .cancelled
        }
    }

    private func watch(_ watch: Watch) throws -> WatchQuestion {
        let tick = Duration(microseconds: watch.tickUSec ?? 1_000_000)
        guard tick == .zero || (policy.shortestTick...policy.longestDuration).contains(tick) else {
            throw InvalidParameter("tickUSec")
        }
        let heartbeat = watch.heartbeatUSec.map { Duration(microseconds: $0) }
        if let heartbeat, !(policy.shortestHeartbeat...policy.longestDuration).contains(heartbeat) {
            throw InvalidParameter("heartbeatUSec")
        }
        if let since = watch.since, since < 0 { throw InvalidParameter("since") }
        return WatchQuestion(
            selection: try selection(match: watch.match, keys: watch.keys),
            tick: tick == .zero ? nil : tick,
            since: watch.since.map(Revision.init),
            heartbeat: heartbeat
        )
    }

    private func selection(match: [String]?, keys: [String]?) throws -> Selection {
        guard match != nil || keys != nil else { return .everything }
        let match = match ?? []
        guard match.count <= policy.patterns else { throw limitReached("patterns", policy.patterns) }
        guard match.allSatisfy({ $0.utf8.count <= policy.patternBytes }) else {
            throw limitReached("patternBytes", policy.patternBytes)
        }
        do {
            return Selection(
                keys: Set(try (keys ?? []).map { text throws(Key.Invalid) in try Key(text) }),
                patterns: try match.map { text throws(Pattern.Invalid) in try Pattern(text) }
            )
        } catch is Pattern.Invalid {
            throw InvalidParameter("match")
        } catch {
            throw InvalidParameter("keys")
        }
    }

    private func key(of method: (some KeyMethod).Type, in parameters: JSONObject) throws(InvalidParameter) -> Key {
        guard let key = try method.key(in: parameters, { try? Key($0) }) else { throw InvalidParameter("key") }
        return key
    }

    private func key(_ text: String) throws(InvalidParameter) -> Key {
        do { return try Key(text) } catch { throw InvalidParameter("key") }
    }

    func limitReached(_ limit: String, _ maximum: Int) -> any ReplyError {
        CountdownError.limitReached(limit: limit, maximum: Int64(maximum))
    }
}
