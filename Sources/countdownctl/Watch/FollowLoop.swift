import Glibc
import IPC
import System
import Text

/// Starts a countdown, or finds it, and follows it to its end, for `start --attach` and `start --wait`.
struct FollowLoop {
    private let daemon: DaemonEndpoint
    private let output: Output
    private let printer: any EventPrinter
    private let interruption: any Waiter
    private let tick: Int64?
    /// The countdown as it was reported last.
    private var known: Countdown?
    /// The message when the daemon is back.
    private var recovery: String?

    init(of daemon: DaemonEndpoint, output: Output, showing watchOutput: WatchOutput) {
        self.daemon = daemon
        self.output = output
        (printer, interruption, tick) = watchOutput
    }

    /// Makes the call, hands its reply to `report`, and returns the exit code of the end. A daemon that does not answer in the
    /// beginning, or does not know its countdowns, is an error; later it is waited for.
    mutating func run(_ start: Start, report: (Start.Reply) throws -> Void) throws -> ExitCode {
        let following = Following(start, tick: tick, at: daemon.path, sendsBlocking: true)
        let patience = MonotonicDeadline.after(microseconds: DaemonEndpoint.patience)
        while true {
            while let step = try advance(following) {
                if let status = try handle(step, of: start.key, report) { return status }
            }
            let limit = known == nil ? patience : nil
            let earliest = [following.deadline, limit].compactMap(\.self).min()
            switch interruption.wait(for: following.descriptor, until: earliest) {
            case .interrupted: return try leave()
            case .timedOut where limit?.hasPassed == true:
                throw CommandFailure(.failed(errno: ETIMEDOUT), isRead: !following.hasStarted)
            case .readable, .timedOut: break
            }
        }
    }

    private func advance(_ following: Following) throws(CommandFailure) -> FollowStep? {
        do throws(ClientError) {
            let step = try following.advance()
            // The start would be refused for the same reason.
            if known == nil, let error = step?.reason, case .countdown = error { throw error }
            return step
        } catch {
            throw CommandFailure(error, isRead: !following.hasStarted)
        }
    }

    /// Shows a step; returns the exit code after the last one.
    private mutating func handle(
        _ step: FollowStep,
        of key: String,
        _ report: (Start.Reply) throws -> Void
    ) throws -> ExitCode? {
        if let error = step.reason {
            let (loss, recovery) = EventStream.sentences(about: error)
            self.recovery = recovery
            try printer.report(.lost(error), loss)
            return nil
        }
        if let recovery {
            try printer.report(.recovered, recovery)
            self.recovery = nil
        }
        guard step.type != .gone, let countdown = step.countdown else {
            try printer.finish()
            output.warn("\(PrintableText.escape(key)): ended unseen and is no longer known")
            return .unknownKey
        }
        if known == nil, !step.isLast {
            let outcome = step.outcome ?? (step.type == .started ? .started : .attached)
            try report(Start.Reply(outcome: outcome, countdown: countdown))
        }
        try printer.show([Event(step, countdown, isNew: known?.revision != countdown.revision)])
        known = countdown
        guard step.isLast else { return nil }
        try printer.finish()
        return step.type == .finished ? .success : .notRunning
    }

    private func leave() throws -> ExitCode {
        try printer.finish()
        if let known { output.sayStays(known, known.state == .paused ? "stays paused" : "keeps running") }
        return interruption.leavingStatus
    }
}

extension Event {
    /// The event that a step reports.
    fileprivate init(_ step: FollowStep, _ countdown: Countdown, isNew: Bool) {
        let type: Event.Kind? =
            switch step.outcome {
            case .restarted: .restarted
            case .extended: .adjusted
            default: Event.Kind(rawValue: step.type.rawValue)
            }
        let hasRevision = isNew && type != .attached && type != .tick
        self.init(
            type: type ?? .attached,
            revision: hasRevision ? countdown.revision : nil,
            key: countdown.key,
            remainingUSec: countdown.remainingUSec,
            lateUSec: step.late?.microseconds,
            countdown: type == .tick ? nil : countdown
        )
    }
}
