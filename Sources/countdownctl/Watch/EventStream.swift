import IPC

/// The events of a watch, from one daemon after another where the first one goes away.
struct EventStream: ~Copyable {
    /// What comes next.
    enum Step {
        case events([Event])
        case notice(Notice)
        case timedOut
        case interrupted
    }

    /// What happened to the watch itself.
    enum Notice: Equatable {
        case lost
        case back
        /// The daemon has no history from the watch's revision on: the watch begins again, and ends may be missing.
        case historyTrimmed
        /// The same again, before the new watch has told all there is. A person was told the first time.
        case trimmedAgain
    }

    private let daemon: Daemon
    private let interruption: any Waiting
    private var following: ResumableWatch
    private var client: Client?
    private var waiting: [Step] = []
    /// Whether history was trimmed and no watch has told all there is since.
    private var isTrimmed = false

    /// Begins a watch.
    ///
    /// - Throws: that there is no daemon.
    init(_ following: ResumableWatch, of daemon: Daemon, interruption: any Waiting) throws(Failure) {
        self.daemon = daemon
        self.interruption = interruption
        self.following = following
        client = try daemon.connect()
        do {
            try client?.start(streaming: following.request)
        } catch {
            throw Failure(error)
        }
    }

    /// Waits for what comes next, until the deadline at most.
    ///
    /// - Throws: that the daemon refuses the watch, or that none was there from the beginning.
    mutating func next(until deadline: Client.Deadline? = nil) throws(Failure) -> Step {
        while true {
            if !waiting.isEmpty { return waiting.removeFirst() }
            if client == nil {
                if let step = pauseAndConnect(until: deadline) { return step }
                continue
            }
            do {
                guard let reply = try client?.nextReply(to: Watch.self, until: .passed) else {
                    if let step = waitForReply(until: deadline) { return step }
                    continue
                }
                take(reply.reply.events)
                if !reply.continues { lose() }
            } catch {
                try recover(from: error)
            }
        }
    }

    /// Nil where there is something to receive.
    private mutating func waitForReply(until deadline: Client.Deadline?) -> Step? {
        switch interruption.wait(for: client?.descriptor, until: deadline) {
        case .readable: nil
        case .timedOut: .timedOut
        case .interrupted: .interrupted
        }
    }

    private mutating func take(_ events: [Event]) {
        if following.take(events) { waiting.append(.notice(.back)) }
        if isTrimmed, events.contains(where: { $0.type == .synced }) { isTrimmed = false }
        waiting.append(.events(events))
    }

    private mutating func lose() { take(following.lose()) }

    private mutating func take(_ loss: ResumableWatch.Loss) {
        client = nil
        switch loss {
        case .lost: waiting.append(.notice(.lost))
        case .stillLost: break
        case .historyTrimmed:
            waiting.append(.notice(isTrimmed ? .trimmedAgain : .historyTrimmed))
            isTrimmed = true
        }
    }

    private mutating func recover(from error: ClientError) throws(Failure) {
        do {
            take(try following.recover(from: error))
        } catch {
            throw Failure(error)
        }
    }

    /// Nil where the connection may be there.
    private mutating func pauseAndConnect(until deadline: Client.Deadline?) -> Step? {
        let end = Client.Deadline.after(microseconds: following.pauseBeforeAttempt())
        let isPauseLonger = deadline.map { $0.monotonicUSec < end.monotonicUSec } ?? false
        if interruption.wait(for: nil, until: isPauseLonger ? deadline : end) == .interrupted { return .interrupted }
        if isPauseLonger { return .timedOut }
        client = try? daemon.connect()
        do {
            try client?.start(streaming: following.request)
        } catch {
            lose()
        }
        if client == nil { lose() }
        return nil
    }
}

extension EventStream.Notice {
    /// What a person is told while the daemon is away.
    static let lostSentence = "the daemon is gone; waiting for it to come back"

    /// The message for a person; nil if there is nothing new to say.
    var sentence: String? {
        switch self {
        case .lost: Self.lostSentence
        case .back: "the daemon is back"
        case .historyTrimmed: "the daemon keeps no history from where this watch was; endings may have been missed"
        case .trimmedAgain: nil
        }
    }
}

extension ResumableWatch {
    /// Follows what was selected; a tick of nil is the daemon's rule, 0 is none.
    init(_ selection: Selection, tick: Int64? = nil, since: Int64? = nil) {
        self.init(Watch(match: selection.match, tickUSec: tick, since: since, keys: selection.named))
    }
}
