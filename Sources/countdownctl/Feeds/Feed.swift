import IPC

/// A watch for programs: it prints the lines of a feed, or runs a command for events, until it is stopped.
struct Feed {
    let following: Following
    let daemon: Daemon
    let output: Output
    /// What prints where no format was asked for.
    private var printer: any EventPrinter
    private var feed: FeedPrinter?
    private let hooks: HookRuns?
    private let interruption: Interruption

    /// - Throws: that the system has no more room.
    init(
        _ following: Following,
        of daemon: Daemon,
        output: Output,
        line: FeedLine?,
        hook: Hook?
    ) throws(Failure) {
        self.following = following
        self.daemon = daemon
        self.output = output
        printer = output.linePrinter
        feed = line.map(FeedPrinter.init)
        hooks = hook.map { HookRuns($0, output: output) }
        interruption = try Interruption(andReaderOf: .output, with: hooks)
    }

    /// Follows until Ctrl-C, or until whoever reads the lines has left.
    ///
    /// - Throws: that the daemon refuses; that there is none, where no bar waits for it.
    mutating func run() throws -> CommandStatus {
        defer { hooks?.leave() }
        var attempt = 0
        while true {
            do {
                return try follow()
            } catch let failure as Failure {
                guard feed != nil, failure.status == .unavailable || failure.status == .tryLater else { throw failure }
                if attempt == 0 { output.say("\(failure.sentence); waiting for it") }
            }
            try feed?.beginAfresh()
            attempt += 1
            if let status = try wait(Reconnection.pause(before: attempt)) { return status }
        }
    }

    private mutating func follow() throws -> CommandStatus {
        var stream = try EventStream(following, of: daemon, interruption: interruption)
        while true {
            switch try stream.next(until: feed?.deadline) {
            case .events(let events): try take(events)
            case .notice(let notice): try take(notice)
            case .timedOut: break
            case .interrupted: return leavingStatus
            }
            try feed?.passDeadline()
        }
    }

    private mutating func take(_ events: [Event]) throws {
        if feed == nil { try printer.show(events) } else { try feed?.show(events) }
        hooks?.take(events)
    }

    private mutating func take(_ notice: EventStream.Notice) throws {
        switch notice {
        case .lost: try feed?.showNothing()
        case .historyTrimmed, .trimmedAgain: try feed?.beginAfresh()
        case .back: break
        }
        if let sentence = notice.sentence { output.say(sentence) }
    }

    /// Waits before another attempt; the code to leave with where that is wanted.
    private mutating func wait(_ microseconds: Int64) throws -> CommandStatus? {
        let end = Client.Deadline.after(microseconds: microseconds)
        while end.remainingUSec > 0 {
            let next = [end, feed?.deadline].compactMap(\.self).min { $0.monotonicUSec < $1.monotonicUSec }
            if interruption.wait(until: next) == .interrupted { return leavingStatus }
            try feed?.passDeadline()
        }
        return nil
    }

    /// A reader who leaves is no failure.
    private var leavingStatus: CommandStatus { interruption.hasReaderLeft ? .success : .interrupted }
}

extension Output {
    /// Prints events a line each.
    fileprivate var linePrinter: any EventPrinter {
        if let json { return JSONEventPrinter(style: json) }
        return isQuiet ? SilentEventPrinter() : LineEventPrinter()
    }
}
