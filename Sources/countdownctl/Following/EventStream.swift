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
        /// Endings may have been missed.
        case historyTrimmed
    }

    private let daemon: Daemon
    private let interruption: any Waiting
    private var following: Following
    private var client: Client?
    /// The attempts to reach the daemon since it was lost; nil while it is there.
    private var attempts: Int?
    /// Whether anything has come at all: who has never been told anything has nothing to come back to.
    private var hasBegun = false
    private var waiting: [Step] = []

    /// Begins a watch.
    ///
    /// - Throws: that there is no daemon.
    init(_ following: Following, of daemon: Daemon, interruption: any Waiting) throws(Failure) {
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
        hasBegun = true
        for event in events { following.take(event) }
        if attempts != nil, events.contains(where: { $0.type == .synced }) {
            attempts = nil
            waiting.append(.notice(.back))
        }
        waiting.append(.events(events))
    }

    private mutating func lose() {
        client = nil
        guard attempts == nil else { return }
        attempts = 0
        waiting.append(.notice(.lost))
    }

    private mutating func recover(from error: ClientError) throws(Failure) {
        switch error {
        case .countdown(.historyTrimmed):
            following.beginAfresh()
            client = nil
            waiting.append(.notice(.historyTrimmed))
        case .disconnected, .failed:
            guard hasBegun else { throw Failure(error) }
            lose()
        // A daemon that has just come back may be crowded.
        case .countdown(.limitReached):
            guard attempts != nil else { throw Failure(error) }
            lose()
        default: throw Failure(error)
        }
    }

    /// Nil where the connection may be there.
    private mutating func pauseAndConnect(until deadline: Client.Deadline?) -> Step? {
        let attempt = attempts ?? 0
        if attempts != nil { attempts = attempt + 1 }
        let end = Client.Deadline.after(microseconds: Reconnection.pause(before: attempt))
        let isPauseLonger = deadline.map { $0.monotonicUSec < end.monotonicUSec } ?? false
        if interruption.wait(for: nil, until: isPauseLonger ? deadline : end) == .interrupted { return .interrupted }
        if isPauseLonger { return .timedOut }
        client = try? daemon.connect()
        do {
            try client?.start(streaming: following.request)
        } catch {
            lose()
        }
        if client == nil, attempts == nil { lose() }
        return nil
    }
}

extension EventStream.Notice {
    /// What a person is told of it.
    var sentence: String {
        switch self {
        case .lost: "the daemon is gone; waiting for it to come back"
        case .back: "the daemon is back"
        case .historyTrimmed: "the daemon keeps no history from where this watch was; endings may have been missed"
        }
    }
}
