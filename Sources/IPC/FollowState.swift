import Glibc
import System
import Varlink

/// A countdown that is started or found, and followed to its end: a state machine without I/O. The clients for Python and node
/// have the same; clients/conformance/follow.json has a row for each state and input.
///
/// Its owner opens a watch of the key, which lists the countdowns when it resumes, and hands over its events. If
/// ``mustStart``, it makes the call ``request(at:)`` after ``delay``, and hands over the answer before the next event. If the
/// answer is lost, the watch begins again after the newest revision, and says what runs. Instants are microseconds of the system
/// clock.
package struct FollowState: Sendable {
    /// The name in the metadata with a token, by which a start is recognized.
    package static let tokenName = "run"

    /// A token that no other start has.
    package static var randomToken: String { String(UInt64.random(in: .min ... .max), radix: 16) }

    /// The steps to report.
    package var steps: [FollowStep] = []
    /// Whether the start is to be made.
    package private(set) var mustStart = false
    /// Whether no step follows.
    package var isOver = false

    let key: String
    private let start: Start?
    private let missingOK: Bool
    private let token: String
    /// The countdown that is followed, as it is known.
    private var run: Countdown?
    /// Everything up to this revision is a part of `run`.
    private var revision: Int64 = 0
    /// Whether the watch has not reported `run` yet.
    private var isBehind = false
    /// The last report of the watch before there is a `run`.
    private var reported: Event?
    /// The countdown that the watch has listed because it resumes.
    private var listed: Countdown?
    /// The countdown that ran before the first start.
    private var found: Countdown?
    private(set) var starts = 0
    /// When the last start was made.
    private var asked: Int64 = 0
    /// When the first start was made whose answer was lost.
    private var lost: Int64?
    /// The newest revision of the watch.
    private var seen: Int64 = 0
    private var hasBegun = false
    /// Whether the watch reports the current state, and not the changes that were missed.
    private var isFresh = true
    private var isSynced = false
    /// Whether the daemon has lost history since the last `synced`.
    private var isTrimmed = false
    private var isAway = false

    /// Follows the countdown of a key; with `start`, which has the same key, starts it if it does not run.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - start: the call; nil to follow what runs.
    ///   - missingOK: whether a key that does not run ends the sequence; without a start it is otherwise an error.
    ///   - token: the token, unless the metadata of the call has one.
    package init(
        _ key: String,
        start: Start?,
        missingOK: Bool = false,
        token: String = Self.randomToken
    ) {
        self.key = key
        self.start = start
        self.missingOK = missingOK
        self.token = start?.metadata?[Self.tokenName] ?? token
    }

    // MARK: The start

    /// The microseconds to wait before the start.
    package var delay: Int64 { Backoff.delay(before: starts - 1) }

    /// The start, which is made now.
    package mutating func request(at now: Int64) -> Start? {
        guard var call = start else { return nil }
        mustStart = false
        starts += 1
        asked = now
        // These two replace the metadata of the countdown.
        let isKept = [.extend, .later].contains(call.ifRunning) && call.metadata == nil
        call.metadata = ((isKept ? found?.metadata : call.metadata) ?? [:]).merging([Self.tokenName: token])
        return call
    }

    /// The start was made.
    package mutating func answer(_ reply: Start.Reply) { begin(reply.countdown, reply.outcome) }

    /// The start has failed, or its answer was lost. Unless this throws or there is a step, the watch begins again, and says what
    /// runs.
    ///
    /// - Throws: the error, if another attempt would fail in the same way.
    package mutating func refuse(_ error: ClientError, at now: Int64) throws(ClientError) {
        if case .countdown(.alreadyRunning(let countdown, _)) = error, isOwn(countdown) { return begin(countdown) }
        guard error.isTemporaryOfStart else { throw end(error) }
        guard lost == nil, error.mayHaveStarted else { return }
        // A call that queues is carried out at the last moment, if at all.
        lost = start?.ifRunning == .wait ? now : asked
    }

    // MARK: The watch

    /// The watch has reported this.
    ///
    /// - Throws: why there is nothing to follow.
    package mutating func take(_ event: WatchEvent, at now: Int64) throws(ClientError) {
        defer { hasBegun = true }
        switch event {
        case .events(let events): for event in events where !isOver { try take(event, at: now) }
        case .lost(let error), .stillLost(let error): try lose(error)
        case .historyTrimmed:
            isTrimmed = true
            revision = 0
            beginAfresh()
        case .current(let countdowns): listed = countdowns.first
        case .forgotten:
            reported = nil
            if run != nil { end(.gone, run) }
        case .started, .recovered: break
        }
    }

    private mutating func take(_ event: Event, at now: Int64) throws(ClientError) {
        seen = max(seen, event.revision ?? 0)
        if event.type == .synced {
            (isSynced, isFresh) = (true, false)
            defer { listed = nil }
            return if run == nil { try resolve(at: now) } else { comeBack() }
        }
        if event.type == .tick, let remaining = event.remainingUSec, isSynced, !isBehind { step(.tick, remaining) }
        guard let countdown = event.countdown else { return }
        if run != nil {
            change(event, countdown)
            isBehind = isBehind && countdown.revision < revision
        } else if reported.map(isOwnEnd) != true {
            reported = event
        }
    }

    private mutating func lose(_ error: ClientError) throws(ClientError) {
        if case .unreachable(_, let code) = error, code != EAGAIN, !hasBegun { throw end(error) }
        isSynced = false
        if isFresh { beginAfresh() }
        guard !isAway else { return }
        isAway = true
        steps.append(FollowStep(.away, run, reason: error))
    }

    private mutating func beginAfresh() {
        (isFresh, isBehind, isSynced) = (true, true, false)
        reported = nil
    }

    /// Follows what runs, or lets it be started.
    private mutating func resolve(at now: Int64) throws(ClientError) {
        let attaches = start == nil || start?.ifRunning == nil || start?.ifRunning == .attach
        let countdown = reported?.countdown ?? listed
        let isOwn = starts > 0 && countdown.map(isOwn) == true
        if let countdown, countdown.hasNotEnded {
            guard !isOwn, !attaches else { return begin(countdown) }
            if starts == 0 { found = countdown }
        } else if let reported, let countdown, isOwn || attaches && lost != nil {
            return end(reported.type == .finished ? .finished : .cancelled, countdown, late: reported.late)
        }
        reported = nil
        if start != nil {
            mustStart = !mayHaveEnded(at: now)
            return mustStart ? () : end(.gone, nil)
        }
        guard missingOK else { throw end(.countdown(.noSuchCountdown(key: key))) }
        isOver = true
    }

    /// Whether a start whose answer was lost may have been made, and have ended so that the watch cannot know.
    private func mayHaveEnded(at now: Int64) -> Bool {
        guard let start, let lost, start.forget == true || isTrimmed else { return false }
        if let deadline = start.deadlineUSec { return now >= deadline }
        return now - lost >= start.durationUSec ?? 60_000_000
    }

    private func isOwn(_ countdown: Countdown) -> Bool { countdown.metadata?[Self.tokenName] == token }

    private func isOwnEnd(_ event: Event) -> Bool { event.countdown.map { !$0.hasNotEnded && isOwn($0) } ?? false }

    // MARK: The countdown

    private mutating func begin(_ countdown: Countdown, _ outcome: Countdown.Outcome? = nil) {
        let wasFound = outcome == .extended || found?.startedUSec == countdown.startedUSec
        know(countdown)
        (mustStart, isAway, isTrimmed) = (false, false, false)
        step(starts > 0 && isOwn(countdown) && !wasFound ? .started : .attached, countdown.remainingUSec)
        steps[steps.endIndex - 1].outcome = outcome
    }

    private mutating func know(_ countdown: Countdown) {
        run = countdown
        revision = countdown.revision
        isBehind = seen < revision
    }

    private mutating func change(_ event: Event, _ countdown: Countdown) {
        // It is known from the answer, or from the list.
        guard let run, countdown.revision >= revision, event.revision != revision else { return }
        let isOther = countdown.startedUSec != run.startedUSec
        // A countdown that keeps its end, and has none, was restarted.
        if isOther, event.type != .restarted, run.forget || isTrimmed { return end(.gone, run) }
        switch event.type {
        case .finished: return end(.finished, countdown, late: event.late)
        case .cancelled: return end(.cancelled, countdown)
        default: know(countdown)
        }
        let type = isOther ? .restarted : FollowStep.Kind(rawValue: event.type.rawValue)
        if isSynced, let type { step(type, countdown.remainingUSec) }
    }

    /// The watch has reported everything since the daemon was away.
    private mutating func comeBack() {
        isSynced = false
        if let listed {
            change(Event(type: .attached, countdown: listed), listed)
        } else if isBehind {
            end(.gone, run)
        }
        (isSynced, isTrimmed) = (true, false)
        guard isAway, !isOver else { return }
        isAway = false
        step(.attached, run?.remainingUSec ?? 0)
    }

    private mutating func step(_ type: FollowStep.Kind, _ remaining: Int64) {
        guard run != nil else { return }
        run?.remainingUSec = remaining
        steps.append(FollowStep(type, run))
    }

    private mutating func end(_ type: FollowStep.Kind, _ countdown: Countdown?, late: Duration? = nil) {
        isOver = true
        steps.append(FollowStep(type, countdown, late: late))
    }

    /// Ends with an error.
    private mutating func end(_ error: ClientError) -> ClientError {
        isOver = true
        return error
    }
}

extension Countdown {
    /// Whether it is running or paused.
    package var hasNotEnded: Bool { state == .running || state == .paused }
}

extension ClientError {
    /// Whether a start may be made after the error, or was made.
    var isTemporaryOfStart: Bool {
        switch self {
        case .disconnected, .failed, .unreachable: true
        case .countdown(.storageFailed), .countdown(.unreachable): true
        // `connections`, or `connectionsPerUser`.
        case .countdown(.limitReached(let limit, _)): limit.hasPrefix("connections")
        default: false
        }
    }

    /// Whether a start may have been made though it has no answer.
    fileprivate var mayHaveStarted: Bool {
        switch self {
        case .disconnected, .failed, .countdown(.unreachable): true
        default: false
        }
    }
}
