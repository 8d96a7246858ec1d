import Glibc
import IPC
import System

/// The events of a watch, across restarts of the daemon.
struct EventStream: ~Copyable {
    enum StreamItem {
        case events([Event])
        /// A change of the watch itself, with the message for a person; nil if there is nothing new to say.
        case notice(WatchEvent, sentence: String?)
        case timedOut
        case interrupted
    }

    /// The message while the daemon is away.
    static let lostSentence = "lost the connection to the daemon; reconnecting"

    private let interruption: any Waiter
    private let connection: WatchConnection
    private var items: [StreamItem] = []
    /// The message when the daemon is back.
    private var recovery = ""
    /// Whether the history was trimmed and `synced` has not arrived since.
    private var isTrimmed = false

    /// Begins a watch.
    init(_ watch: ResumableWatch, of daemon: DaemonEndpoint, interruption: any Waiter) throws(CommandFailure) {
        self.interruption = interruption
        connection = WatchConnection(watch, at: daemon.path, sendsBlocking: true)
        try advance()
    }

    /// Waits for the next step, until the deadline at most. Throws if the daemon refuses the watch.
    mutating func next(until deadline: MonotonicDeadline? = nil) throws(CommandFailure) -> StreamItem {
        while true {
            if !items.isEmpty { return items.removeFirst() }
            try advance()
            guard items.isEmpty else { continue }
            let earliest = [deadline, connection.deadline].compactMap(\.self).min()
            switch interruption.wait(for: connection.descriptor, until: earliest) {
            case .readable: break
            case .timedOut: if deadline?.hasPassed == true { return .timedOut }
            case .interrupted: return .interrupted
            }
        }
    }

    /// Shows all events, or only the events of some countdowns, until the deadline at most, and returns the exit code.
    mutating func show(
        _ shown: ShownCountdowns? = nil,
        in printer: any EventPrinter,
        until deadline: MonotonicDeadline? = nil
    ) throws -> ExitCode {
        while true {
            switch try next(until: deadline) {
            case .events(let events): try printer.show(events.filter { shown?.hides($0) != true })
            case .notice(let notice, let sentence): try printer.report(notice, sentence)
            case .timedOut: return .timedOut
            case .interrupted:
                try printer.finish()
                return interruption.leavingStatus
            }
        }
    }

    private mutating func advance() throws(CommandFailure) {
        do throws(ClientError) {
            for event in try connection.advance() { take(event) }
        } catch {
            throw CommandFailure(error, isRead: true)
        }
    }

    /// The messages when the daemon goes away, and when it is back.
    static func sentences(about error: ClientError) -> (loss: String, recovery: String) {
        let waiting = "\(CommandFailure(error, isRead: true).sentence); waiting"
        return switch error {
        case .countdown: (waiting, "the daemon knows its countdowns now")
        case .unreachable: (waiting, "connected to the daemon")
        default: (lostSentence, "reconnected to the daemon")
        }
    }

    private mutating func take(_ event: WatchEvent) {
        var sentence: String?
        switch event {
        case .started, .current: return
        case .events(let events):
            if events.contains(where: { $0.type == .synced }) { isTrimmed = false }
            return items.append(.events(events))
        case .lost(let error):
            (sentence, recovery) = Self.sentences(about: error)
        case .recovered: sentence = recovery
        case .historyTrimmed:
            if !isTrimmed {
                sentence = "the daemon no longer has the history since the last event; ends may be missing"
            }
            isTrimmed = true
        case .stillLost, .forgotten: break
        }
        items.append(.notice(event, sentence: sentence))
    }
}

extension ResumableWatch {
    init(_ selection: KeySelection, tick: Int64? = nil, since: Int64? = nil) {
        self.init(selection.watch(tick: tick, since: since))
    }
}
