import ArgumentParser
import IPC
import System
import Text

struct RunCommand: Subcommand {
    static var name: CommandName { .run }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Run a command, at most once per countdown.",
        usage: """
            countdownctl run KEY [DURATION | --for DURATION] [--from start | --from end]
                  [--wait [--queue-timeout DURATION] | --trailing | --backoff DURATION]
                  [--also N/PERIOD=KEY]... [--on-lost SIGNAL] [options]
                  -- COMMAND [ARGUMENT]...
            countdownctl run KEY --rate N/PERIOD... [--also N/PERIOD=KEY]...
                  [--wait [--queue-timeout DURATION]] [options] -- COMMAND [ARGUMENT]...
            """,
        discussion: """
            Examples:
              countdownctl run backup 1d -- restic backup /home
              countdownctl run login/alice 60s -- send-code alice
              countdownctl run feed --for 15m -q -E 0 -- fetch-feed     for cron
              countdownctl run codes/alice --rate 3/10m -- send-code alice
              countdownctl run deploy 1us --wait -- deploy-site
              countdownctl run sync 1us --on-lost TERM -- sync-files
              countdownctl run build 1us --trailing -- make
              countdownctl run alert/db 30m -- notify-send 'the database is down'
              countdownctl run phone/138 --rate 3/1m --rate 30/1d -- send-code 138
              countdownctl run phone/138 1m --also 20/1h=ip/1.2.3.4 -- send-code 138
              countdownctl run mirror 1m --backoff 1h -- rsync -a there: here

            If the countdown is running or paused, the command is not run, and the exit
            code is 75 or that of -E. Otherwise the countdown starts (60 s by default), the
            command runs, and its exit code is returned: 126 if it cannot be executed, 127
            if it was not found, 128 plus the signal number if a signal killed it. If the
            command fails, the cooldown is cancelled. No shell is used.

            The command does not overlap itself: the countdown does not end while
            countdownctl runs, however long the command takes. After the command it ends
            DURATION after the start, or at once if that has passed; with --from end,
            DURATION after the command. If countdownctl is killed, stopped or cut off from
            the daemon, the countdown ends by itself after at most DURATION or 30 s,
            whichever is longer; so does it if the machine is suspended for longer than
            half of that. Signals are passed on to the command; if the terminal goes away,
            it gets SIGHUP, unless nohup lets it go on. A process that the command leaves
            in the background is not held.

            If another program meanwhile cancels, finishes or restarts the countdown,
            countdownctl says so and leaves it alone. A countdown that was paused stays
            paused, and time that was added stays.

            With --on-lost TERM, the command gets that signal as soon as the countdown no
            longer holds: it ended, another program started it, or its end came before it
            could be renewed. After a suspend that is at the resume. The next command may
            already run then.

            With --wait, the call queues while the key is running or paused, and runs the
            command when its turn comes, in the order of arrival. After --queue-timeout
            the exit code is 75 or that of -E.

            With --rate 3/10m, the command runs three times at once, then once per 3:20.
            A rate is not a hard cap: any ten minutes may see five. --rate does not hold
            the key, so commands may overlap. If the command fails, it does not count.

            With several --rate, and with --also for other keys, all limits must have room,
            or none is used. The first limit of a key has that key, each further one the
            period behind it: phone/138 and phone/138/1d. Their ends are not kept. If the
            command fails, each is given back by itself. In a fleet there is one limit.

            With --trailing, the command runs at once if the key is free. If not, one of
            all callers waits and runs it once afterwards; the others exit with code 0. It
            begins after each of them came. If the caller that waits is killed, that run
            does not happen; if the daemon is restarted, it queues again. In a fleet, one
            caller waits on each machine.

            With --backoff 1h, the next run after a failure waits DURATION from the end of
            the command, after another failure twice as long, up to 1 h; a success resets
            it. The countdown has the wait in its metadata, as backoff=2m, also after it
            has ended, for as long as the daemon keeps its end. A run whose result does not
            reach the daemon, because one of both was killed, counts as a failure.
            """
    )

    @Argument(help: "The key.", completion: KeyCompletion.any)
    var key: String?

    @Argument(help: ArgumentHelp("How long the command must not run again.", valueName: "duration"))
    var positional: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("The same as the argument DURATION.", valueName: "duration"))
    var length: String?

    @Option(
        help: ArgumentHelp("When DURATION begins: start or end of the command. (default: start)", valueName: "when")
    )
    var from: CooldownHold.Origin?

    @Option(help: ArgumentHelp("Run N times at once, then once per PERIOD / N.", valueName: "n/period"))
    var rate: [String] = []

    @Option(help: ArgumentHelp("A rate of another key that must have room, too.", valueName: "n/period=key"))
    var also: [String] = []

    @Flag(help: "Queue until its turn comes.")
    var wait = false

    @Option(help: ArgumentHelp("With --wait, how long to queue at most.", valueName: "duration"))
    var queueTimeout: String?

    @Flag(help: "If it is already running, let one caller run the command afterwards.")
    var trailing = false

    @Option(help: ArgumentHelp("After failures, wait twice as long each time, up to this.", valueName: "duration"))
    var backoff: String?

    @Flag(help: "If it is refused, print a JSON object with retryAfterUSec.")
    var json = false

    @Option(
        name: [.customShort("E"), .long],
        help: ArgumentHelp("The exit code if it is already running. (default: 75)", valueName: "code")
    )
    var conflictExitCode: String?

    @Option(help: ArgumentHelp("Send the command this signal when its hold is lost.", valueName: "signal"))
    var onLost: String?

    @Flag(help: "Keep the countdown if the command fails.")
    var keepOnFailure = false

    @Option(help: ArgumentHelp("A text to show with the countdown.", valueName: "text"))
    var label: String?

    @Flag(help: "Remove the countdown when it ends.")
    var forget = false

    @OptionGroup var messages: MessageOptions

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    func check() throws(CommandFailure) { _ = try request() }

    func perform() throws -> ExitCode {
        let call = try request()
        let limits = try limits()
        let conflict = try conflictStatus()
        let daemon = try DaemonEndpoint()
        let output = Output(isQuiet: messages.quiet, json: json, palette: .plain)
        let timer = try BootTimer.orFailure()
        do {
            let backoff = try backoffState(of: call.key, daemon)
            switch try start(call, limits, carrying: backoff, of: daemon, output) {
            case .received(let countdowns):
                return try run(countdowns, limits, backoff, timer: timer, of: daemon, output)
            case .timedOut: output.say(QueueTimeout.sentence(about: call.key, queueTimeout))
            case .interrupted: return .interrupted
            }
        } catch {
            guard let refusal = StartRefusal(error) else { throw error }
            guard !trailing else {
                output.say("\(CountdownText.name(refusal.countdown)): another caller runs the command afterwards")
                return .success
            }
            if json { try output.print(json: JSONText.object(refusal)) }
            output.say(refusal.sentence(of: limits.rate(of: refusal.countdown.key)))
        }
        return conflict
    }

    /// Starts the countdowns of all limits, or waits for the turn of the only one.
    private func start(
        _ call: Start,
        _ limits: CallLimits,
        carrying backoff: BackoffState?,
        of daemon: DaemonEndpoint,
        _ output: Output
    ) throws(CommandFailure) -> AwaitedReply<[Countdown]> {
        if wait || trailing {
            let timeout = try QueueTimeout.read(queueTimeout)
            return try keepingSignalMask { () throws(CommandFailure) in
                switch try daemon.queue(call, timeout: timeout, output: output) {
                case .received(let reply): .received([reply.countdown])
                case .timedOut: .timedOut
                case .interrupted: .interrupted
                }
            }
        }
        guard limits.all.count > 1 else {
            var call = call
            // Until a success is known, the run counts as failed: its result may never reach the daemon.
            if let backoff { call.metadata = BackoffState.metadata(backoff.next) }
            return .received([try daemon.call(call).countdown])
        }
        let held = Cooldown(
            call.key,
            for: call.durationUSec.map(Duration.microseconds),
            label: label,
            metadata: call.metadata,
            forget: call.forget
        )
        let cooldowns = limits.all.map { limit in
            limit.rate?.cooldown(limit.key, label: label, metadata: CooldownMark.metadata) ?? held
        }
        let reply = try daemon.call(StartAll(cooldowns: cooldowns))
        if let refusal = reply.refusal { throw refusal }
        let countdowns = reply.rooms.compactMap { room in room.countdown }
        return .received(countdowns)
    }

    /// Runs the command under the countdowns that were started or extended for it.
    private func run(
        _ countdowns: [Countdown],
        _ limits: CallLimits,
        _ backoff: BackoffState?,
        timer: consuming BootTimer,
        of daemon: DaemonEndpoint,
        _ output: Output
    ) throws(CommandFailure) -> ExitCode {
        let held = rate.isEmpty ? countdowns.first : nil
        let keeper: CooldownKeeper?
        if let held {
            keeper = CooldownKeeper(
                terms(try cooldown() ?? 60_000_000),
                started: held,
                timer: timer,
                daemon: daemon,
                output: output,
                lossSignal: try lossSignal()
            )
        } else {
            keeper = nil
        }
        var succeeded = false
        // Also if the command cannot be started.
        defer {
            let wait = succeeded ? nil : backoff?.next
            if let held, succeeded, backoff != nil { resetWait(of: held, daemon, output) }
            keeper?.finish(succeeded: succeeded, waiting: wait)
            for (limit, countdown) in zip(limits.all, countdowns) where !succeeded && !keepOnFailure {
                if let rate = limit.rate { giveBack(rate.interval, of: countdown, to: daemon, output) }
            }
        }
        let ending = try ForegroundCommand(words: command).run(
            beside: { keeper?.descriptors ?? [] },
            advance: { keeper?.advance() }
        )
        succeeded = ending == .exited(code: 0)
        return ending.exitCode
    }

    /// Removes the wait from the metadata of the countdown, if it is still ours.
    private func resetWait(of started: Countdown, _ daemon: DaemonEndpoint, _ output: Output) {
        for attempt in 1... {
            do {
                let current = try daemon.call(Get(key: started.key)).countdown
                guard current.startedUSec == started.startedUSec, current.hasNotEnded else { return }
                // Extending is the only way to change the metadata of a countdown.
                let metadata = CooldownMark.metadata
                _ = try daemon.call(Start(key: started.key, durationUSec: 1, ifRunning: .extend, metadata: metadata))
                return
            } catch {
                guard error.exitCode == .unavailable, attempt < CooldownHold.attemptsAfterExit else {
                    let name = CountdownText.name(started)
                    return output.warn("countdownctl: \(name): the wait is not reset: \(error.sentence)")
                }
                PollSet.pause(microseconds: Backoff.delay(before: attempt))
            }
        }
    }

    /// The wait of the last run; nil without `--backoff`.
    private func backoffState(of key: String, _ daemon: DaemonEndpoint) throws(CommandFailure) -> BackoffState? {
        guard let most = try longestWait() else { return nil }
        let last = try daemon.countdown(of: key).flatMap(BackoffState.wait)
        return BackoffState(base: try cooldown() ?? 60_000_000, most: most, last: last)
    }

    /// Takes back the time that a failed command used of its rate, unless the countdown was started again.
    private func giveBack(_ interval: Int64, of started: Countdown, to daemon: DaemonEndpoint, _ output: Output) {
        var revision = started.revision
        while true {
            do {
                _ = try daemon.call(Adjust(key: started.key, byUSec: -interval, ifRevision: revision))
                return
            } catch {
                switch error.refusal {
                case .revisionMismatch(let now) where now.startedUSec == started.startedUSec && now.hasNotEnded:
                    revision = now.revision
                case .revisionMismatch, .wrongState, .noSuchCountdown: return
                default:
                    let name = CountdownText.name(started)
                    return output.warn("countdownctl: \(name): the failure still counts: \(error.sentence)")
                }
            }
        }
    }

    func request() throws(CommandFailure) -> Start {
        guard let key = try key.map(newKey) else {
            throw .usage("missing key; for example `countdownctl run backup 1d -- COMMAND`")
        }
        let typed = [key, positional].compactMap(\.self)
        if length == nil, TypedTiming.isMeant(by: typed) {
            let length = typed.joined(separator: " ")
            throw .usage("missing key; for example `countdownctl run backup \(length) -- COMMAND`")
        }
        guard !command.isEmpty else {
            let word = ShellWord.quote(key)
            throw .usage("missing command; for example `countdownctl run \(word) 1h -- COMMAND`")
        }
        try QueueTimeout.check(queueTimeout, needing: "--wait", wait)
        _ = try lossSignal()
        try checkModes()
        let (rate, cooldown) = (try limits().all.first?.rate, try cooldown())
        let waits = wait || trailing
        return Start(
            key: key,
            durationUSec: rate?.interval ?? cooldown.map { terms($0).hold },
            ifRunning: waits ? .wait : rate != nil ? .extend : .fail,
            label: label,
            metadata: waits && rate == nil ? CooldownMark.ownMetadata() : CooldownMark.metadata,
            forget: forget || rate != nil ? true : nil,
            upToUSec: rate?.limit,
            queueUpTo: trailing ? 1 : nil
        )
    }

    /// The error for a command without `--` before it, which ArgumentParser would call an unexpected argument; nil for other
    /// command lines.
    static func missingSeparator(in arguments: [String]) -> CommandFailure? {
        guard arguments.first == name.rawValue, !arguments.contains("--") else { return nil }
        let words = arguments.dropFirst().prefix { !$0.hasPrefix("-") }
        guard words.count > 1, let (count, _) = TypedTiming.longest(of: words.dropFirst(), .local),
            let extra = words.dropFirst(count + 1).first
        else { return nil }
        let right = (words.prefix(count + 1) + ["--"] + words.dropFirst(count + 1)).map(ShellWord.quote)
        let command = "`countdownctl run \(right.joined(separator: " "))`"
        return .usage("unexpected argument \(quoted(extra)): the command is behind --, as in \(command)")
    }

    private func limits() throws(CommandFailure) -> CallLimits {
        let cooldown = try cooldown()
        if let first = rate.first {
            _ = try Rate.read(first, duration: positional ?? length)
            if let from { throw .usage("--from \(from.rawValue) cannot be combined with \(Rate.option(first))") }
        }
        let held = rate.isEmpty ? cooldown ?? 60_000_000 : nil
        return try CallLimits(of: key ?? "", rates: rate, also: also, cooldown: held)
    }

    /// Refuses combinations of options that have no meaning.
    private func checkModes() throws(CommandFailure) {
        let several = !also.isEmpty || rate.count > 1
        let modes = [
            (wait, "--wait"), (trailing, "--trailing"), (backoff != nil, "--backoff"),
            (several, also.isEmpty ? "several --rate" : "--also"),
        ].filter(\.0)
        if modes.count > 1 { throw .usage("\(modes[0].1) cannot be combined with \(modes[1].1)") }
        guard trailing || backoff != nil else { return }
        if let rate = rate.first { throw .usage("\(modes[0].1) cannot be combined with \(Rate.option(rate))") }
        guard let most = try longestWait() else { return }
        if forget { throw .usage("--forget cannot be combined with --backoff: the end keeps the wait") }
        if keepOnFailure { throw .usage("--keep-on-failure cannot be combined with --backoff") }
        guard most >= (try cooldown()) ?? 60_000_000 else {
            throw .usage("invalid --backoff \(quoted(backoff ?? "")): it is shorter than the duration")
        }
    }

    private func longestWait() throws(CommandFailure) -> Int64? {
        try backoff.map(DurationParser.read)
    }

    private func lossSignal() throws(CommandFailure) -> Int32? {
        guard let onLost else { return nil }
        if let rate = rate.first {
            throw .usage("--on-lost cannot be combined with \(Rate.option(rate)): a rate does not hold the key")
        }
        return try SignalName.read(onLost, of: "--on-lost")
    }

    private func terms(_ cooldown: Int64) -> CooldownHold.Terms {
        CooldownHold.Terms(cooldown: cooldown, origin: from ?? .start, keepsOnFailure: keepOnFailure)
    }

    private func cooldown() throws(CommandFailure) -> Int64? {
        guard positional == nil || length == nil else { throw .usage("use either DURATION or --for") }
        guard let text = positional ?? length else { return nil }
        let word = ShellWord.quote(key ?? "")
        return try TypedTiming.readLength(text) { "`countdownctl run \(word) \($0) -- COMMAND`" }
    }

    private func conflictStatus() throws(CommandFailure) -> ExitCode {
        guard let typed = conflictExitCode else { return .tryLater }
        guard let code = UInt8(typed) else {
            throw .usage("invalid --conflict-exit-code \(quoted(typed)): use 0 to 255")
        }
        return ExitCode(rawValue: Int32(code))
    }
}

extension CooldownHold.Origin: ExpressibleByArgument {}

extension BootTimer {
    /// A timer; an internal error if the system refuses.
    static func orFailure() throws(CommandFailure) -> BootTimer {
        do {
            return try BootTimer()
        } catch {
            throw CommandFailure(.internalFault, "cannot make a timer: \(error)")
        }
    }
}
