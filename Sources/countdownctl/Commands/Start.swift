import ArgumentParser
import IPC
import System
import Text
import Varlink

struct StartCommand: Subcommand {
    static var name: CommandName { .start }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Start a countdown, or find it running.",
        usage: """
            countdownctl start KEY [DURATION | TIME | --for DURATION | --until TIME]
                  [--restart | --extend | --later [--max DURATION] | --fail |
                  --queue [--queue-timeout DURATION]] [--label TEXT]
                  [--meta NAME=VALUE]... [--forget] [--wait | --attach] [options]
            countdownctl start KEY --rate N/PERIOD [--queue [--queue-timeout DURATION]]
                  [options]
            """,
        discussion: """
            Examples:
              countdownctl start tea 5m
              countdownctl start tea 5 min            or in 5 minutes
              countdownctl start call --until 17:30 --label "Call the bank"
              countdownctl start call at 17:30        or 5:30pm, or tomorrow 9:00
              countdownctl start tea 5m --restart     start again if it is running
              countdownctl start login/alice --fail && send-code
              countdownctl start api/openai 42s --later      after Retry-After: 42
              countdownctl start tea 5m --wait && play gong.wav
              countdownctl start codes/alice --rate 3/10m && send-code alice
              countdownctl start printer 30s --queue && print-page

            The default duration is 60 s. If the countdown is already running or paused,
            nothing changes, and the remaining time is printed.

            With --later, the later end wins: if the duration is longer than the remaining
            time, it becomes the remaining time; otherwise nothing changes. With --max 10m,
            such calls let the countdown run for at most ten minutes in all.

            With --rate 3/10m, three starts are accepted at once, then one per 3:20; others
            exit with code 75 and say when to try again. A rate is not a hard cap: any ten
            minutes may see five, three at once and two later. With --json, the time until
            the next one is retryAfterUSec.

            With --queue, the call waits while the key is running or paused, and starts the
            countdown when its turn comes, in the order of arrival. After --queue-timeout
            the exit code is 75. A caller that is interrupted leaves the queue.
            """
    )

    @Argument(
        help: ArgumentHelp("The key and the duration, or the time.", valueName: "key [duration]"),
        completion: KeyCompletion.any
    )
    var words: [String] = []

    @Option(help: ArgumentHelp("The key, even if it looks like a duration.", valueName: "key"))
    var key: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("The duration.", valueName: "duration"))
    var length: String?

    @Option(help: ArgumentHelp("The end; it then follows the system clock.", valueName: "time"))
    var until: String?

    @Flag var choice: RunningChoice?

    @Option(
        name: .customLong("max"),
        help: ArgumentHelp("With --later, how long it may run in all.", valueName: "duration")
    )
    var most: String?

    @Option(help: ArgumentHelp("Accept N starts at once, then one per PERIOD / N.", valueName: "n/period"))
    var rate: String?

    @Flag(help: "Queue until its turn comes.")
    var queue = false

    @Option(help: ArgumentHelp("With --queue, how long to queue at most.", valueName: "duration"))
    var queueTimeout: String?

    @Option(help: ArgumentHelp("A text to show with it.", valueName: "text"))
    var label: String?

    @Option(help: ArgumentHelp("Metadata for programs.", valueName: "name=value"))
    var meta: [String] = []

    @Flag(help: "Remove it when it ends.")
    var forget = false

    @Flag var stay: StayChoice?

    @Flag(help: plainHelp) var plain = false

    @OptionGroup var options: OutputOptions

    func check() throws(CommandFailure) { _ = try request(.local) }

    func perform() throws -> ExitCode {
        let request = try request(.local)
        if plain, stay != .attach { throw CommandFailure.usage("--plain needs --attach") }
        let output = options.output
        for note in request.notes { output.say(note) }
        if let note = NotifierStatus.wakeNote(for: request.call.metadata) { output.say(note) }
        let daemon = try DaemonEndpoint()
        if queue { return try wait(forTurn: request, of: daemon, output) }
        guard let stay else {
            try start(request, of: daemon, output)
            return .success
        }
        return try reportingRefusal(of: request, output) {
            var call = request.call
            if call.deadlineUSec == nil { call.durationUSec = call.durationUSec ?? 60_000_000 }
            let shown = try stay.output(of: daemon, output, FollowStyle(isPlain: plain))
            var loop = FollowLoop(of: daemon, output: output, showing: shown)
            return try loop.run(call) { try report($0, of: request, output) }
        }
    }

    /// Waits in the queue of the key until the countdown is started or extended.
    private func wait(
        forTurn request: StartRequest,
        of daemon: DaemonEndpoint,
        _ output: Output
    ) throws -> ExitCode {
        switch try daemon.queue(request.call, timeout: QueueTimeout.read(queueTimeout), output: output) {
        case .received(let reply):
            try report(reply, of: request, output)
            return .success
        case .timedOut: throw CommandFailure(.tryLater, QueueTimeout.sentence(about: request.call.key, queueTimeout))
        case .interrupted: return .interrupted
        }
    }

    /// Makes the call and reports its reply.
    private func start(_ request: StartRequest, of daemon: DaemonEndpoint, _ output: Output) throws {
        let reply = try reportingRefusal(of: request, output) { try daemon.call(request.call) }
        try report(reply, of: request, output)
    }

    /// The failure of a refused start describes the running countdown, or says when to try again.
    private func reportingRefusal<Value>(
        of request: StartRequest,
        _ output: Output,
        _ body: () throws -> Value
    ) throws -> Value {
        do {
            return try body()
        } catch let failure as CommandFailure {
            guard let refusal = StartRefusal(failure) else { throw failure }
            if output.json { try output.print(json: JSONText.object(refusal)) }
            if let rate = request.rate { throw CommandFailure(.tryLater, refusal.sentence(of: rate)) }
            let countdown = refusal.countdown
            throw CommandFailure(.tryLater, "\(CountdownText.name(countdown)): \(alreadyThere(countdown))")
        }
    }

    private func report(_ reply: Start.Reply, of request: StartRequest, _ output: Output) throws {
        if output.json { try output.print(json: JSONText.object(reply)) }
        let countdown = reply.countdown
        let clause: String
        switch reply.outcome {
        case .attached where choice == .later: clause = alreadyThere(countdown)
        case .attached: clause = "\(alreadyThere(countdown)); \(advice(countdown))"
        // Its event says the same.
        case .started, .restarted, .extended:
            if stay == .attach { return }
            let started = "\(reply.outcome.rawValue), \(CountdownText().remaining(countdown))"
            clause = request.rate.map { accepted($0, countdown) } ?? started
        }
        output.say("\(CountdownText.name(countdown)): \(clause)")
    }

    private func accepted(_ rate: Rate, _ countdown: Countdown) -> String {
        let left = rate.left(countdown.remainingUSec)
        guard left == 0 else { return "accepted, \(left) left now" }
        return "accepted, the next one in \(RemainingFormat.render(rate.delay(countdown.remainingUSec)))"
    }

    private func alreadyThere(_ countdown: Countdown) -> String {
        "already \(countdown.state.rawValue), \(CountdownText().remaining(countdown)); nothing changed"
    }

    private func advice(_ countdown: Countdown) -> String {
        guard countdown.state == .paused else { return "--restart starts it again" }
        let resume = "countdownctl resume \(ShellWord.quote(countdown.key))"
        return "`\(resume)` continues it, --restart starts it again"
    }
}

/// What `start` does if the key is already running or paused.
enum RunningChoice: String, EnumerableFlag {
    case restart
    case extend
    case later
    case fail

    static func help(for value: RunningChoice) -> ArgumentHelp? {
        switch value {
        case .restart: "If it is already running, start it again with these options."
        case .extend: "If it is already running, add the duration."
        case .later: "If it is already running, let the later end win."
        case .fail: "If it is already running, exit with code 75."
        }
    }

    /// The same in the terms of the interface, which has the same names.
    var ifRunning: IfRunning? { IfRunning(rawValue: rawValue) }
}

/// The help of `--plain` of subcommands that can attach.
let plainHelp: ArgumentHelp = "With --attach, print lines instead of a picture."

/// Whether `start` stays until the end.
enum StayChoice: String, EnumerableFlag {
    case wait
    case attach

    static func help(for value: StayChoice) -> ArgumentHelp? {
        switch value {
        case .wait: "Wait until it ends, like the command wait."
        case .attach: "Follow it until it ends, like the command attach."
        }
    }

    /// How the countdown is shown.
    func output(of daemon: DaemonEndpoint, _ output: Output, _ style: FollowStyle) throws -> WatchOutput {
        self == .attach ? try output.watchOutput(of: daemon, .one, style) : try output.lines(onlyEnds: true)
    }

    /// Stays until the end of a countdown.
    func follow(
        _ key: String,
        of daemon: DaemonEndpoint,
        _ output: Output,
        _ style: FollowStyle
    ) throws -> ExitCode {
        let shown = try self.output(of: daemon, output, style)
        var ends = WaitLoop([key], of: daemon, output: output, showing: shown)
        return try ends.run()
    }
}

/// The call for the arguments of `start`.
struct StartRequest {
    let call: Start
    let rate: Rate?
    let notes: [String]

    /// The pairs of `--meta`; nil without the option.
    static func metadata(_ typed: [String]) throws(CommandFailure) -> TextMap<String>? {
        guard !typed.isEmpty else { return nil }
        var metadata: TextMap<String> = [:]
        for pair in typed {
            guard let sign = pair.firstIndex(of: "="), sign != pair.startIndex else {
                throw .usage("invalid --meta \(quoted(pair)): use NAME=VALUE")
            }
            let name = String(pair[..<sign])
            guard metadata[name] == nil else { throw .usage("duplicate --meta name \(quoted(name))") }
            metadata[name] = String(pair[pair.index(after: sign)...])
        }
        return metadata
    }
}

extension StartCommand {
    private typealias Timing = (length: Int64?, deadline: Int64?, notes: [String])

    func request(_ clock: ClockText) throws(CommandFailure) -> StartRequest {
        let (key, positional) = try keyAndLength(clock)
        let timing = try timing(positional, key: key, clock)
        let rate = try Rate.read(rate, duration: positional ?? length)
        if choice == .extend, timing.deadline != nil {
            throw .usage("--extend needs a duration; `countdownctl adjust KEY --until TIME` sets another end")
        }
        try checkRate()
        try checkQueue(until ?? (timing.deadline == nil ? nil : positional))
        let call = Start(
            key: key,
            durationUSec: rate?.interval ?? timing.length,
            deadlineUSec: timing.deadline,
            ifRunning: queue ? .wait : rate != nil ? .extend : choice?.ifRunning,
            label: label,
            metadata: try metadata(),
            forget: forget || rate != nil ? true : nil,
            upToUSec: rate?.limit,
            maxDurationUSec: try longest(timing)
        )
        return StartRequest(call: call, rate: rate, notes: timing.notes)
    }

    /// The metadata of `--meta`; a rate is a cooldown.
    private func metadata() throws(CommandFailure) -> TextMap<String>? {
        let typed = try StartRequest.metadata(meta)
        return rate == nil ? typed : CooldownMark.metadata.merging(typed ?? [:])
    }

    private func longest(_ timing: Timing) throws(CommandFailure) -> Int64? {
        guard let most else { return nil }
        guard choice == .later else { throw .usage("--max needs --later") }
        let length = try DurationParser.read(most)
        guard timing.deadline == nil else { throw .usage("--max needs a duration, not a time") }
        guard length >= timing.length ?? 60_000_000 else {
            throw .usage("invalid --max \(quoted(most)): it is shorter than the duration")
        }
        return length
    }

    private func checkRate() throws(CommandFailure) {
        guard let option = rate.map(Rate.option) else { return }
        if let until { throw .usage("unexpected --until \(quoted(until)): \(option) sets the duration") }
        if let choice { throw .usage("--\(choice.rawValue) cannot be combined with \(option)") }
    }

    private func checkQueue(_ time: String?) throws(CommandFailure) {
        try QueueTimeout.check(queueTimeout, needing: "--queue", queue)
        guard queue else { return }
        if let choice { throw .usage("--\(choice.rawValue) cannot be combined with --queue") }
        if let time {
            throw .usage("unexpected \(until == nil ? "time" : "--until") \(quoted(time)): --queue needs a duration")
        }
        if let name = stay?.rawValue {
            throw .usage("--\(name) cannot be combined with --queue; use `countdownctl \(name)` after it")
        }
    }

    /// The key, and the duration or time after it.
    private func keyAndLength(_ clock: ClockText) throws(CommandFailure) -> (key: String, length: String?) {
        var words = words[...]
        var key = key
        if key == nil {
            let first = try words.first.map(newKey)
            try checkKey(words, clock)
            words = words.dropFirst()
            key = first
        }
        guard let key else { throw .usage("missing key; for example `countdownctl start tea 5m`") }
        return (key, words.isEmpty ? nil : words.joined(separator: " "))
    }

    /// Refuses a duration or a time in the place of the key.
    private func checkKey(_ words: ArraySlice<String>, _ clock: ClockText) throws(CommandFailure) {
        guard let last = words.last else { return }
        func shown(_ words: some Collection<String>) -> String { words.map(ShellWord.quote).joined(separator: " ") }
        let before = words.dropLast()
        let isMeant = TypedTiming.isMeant(by: words)
        let isBefore = !before.isEmpty && TypedTiming.isMeant(by: before) && !TypedTiming.isMeant(by: [last])
        let swapped = [last] + before
        if !isMeant, isBefore, Self.accepts(swapped) {
            throw .usage("the key comes first: `countdownctl start \(shown(swapped))`")
        }
        let count = TypedTiming.longest(of: words, clock)?.count ?? 0
        guard isMeant || isBefore || count > 1 else { return }
        let lengths = [words, before, words.prefix(count)].filter { !$0.isEmpty && Self.accepts(["tea"] + $0) }
        let keyed = ["--key=\(words[words.startIndex])"] + words.dropFirst()
        let key = quoted(words[words.startIndex])
        let other = Self.accepts(keyed) ? " (`countdownctl start \(shown(keyed))` has the key \(key))" : ""
        throw .usage("missing key; for example `countdownctl start tea \(shown(lengths.first ?? ["5m"]))`\(other)")
    }

    /// Refuses words behind the duration or the time.
    private func checkEnd(
        _ text: String,
        unless error: TypedTimingError,
        behind command: String,
        _ clock: ClockText
    ) throws(CommandFailure) {
        if error.isAboutOneReading { return }
        if case .length(.unknownUnit) = error { return }
        let words = text.split(separator: " ").map(String.init)
        guard let (count, _) = TypedTiming.longest(of: words, clock) else { return }
        let (typed, rest) = (words.prefix(count).joined(separator: " "), words.dropFirst(count).joined(separator: " "))
        let right = ShellWord.quote([label, rest].compactMap(\.self).joined(separator: " "))
        let reason = label == nil ? "a label needs --label" : "a label of several words needs quotes"
        throw .usage("unexpected argument \(quoted(rest)): \(reason), as in `\(command) \(typed) --label \(right)`")
    }

    /// How long, or until when: at most one of the three ways to say it.
    private func timing(_ positional: String?, key: String, _ clock: ClockText) throws(CommandFailure) -> Timing {
        guard [positional, length, until].count(where: { $0 != nil }) < 2 else {
            throw .usage("use only one of DURATION, --for and --until")
        }
        if let until {
            let time = try ClockTime.read(until, clock)
            return (nil, time.instant, time.notes.map { $0.sentence(about: until) })
        }
        if let length { return (try TypedTiming.atLeastOne(DurationParser.read(length)), nil, []) }
        guard let text = positional else { return (nil, nil, []) }
        let option = self.key == nil ? "" : "--key="
        let command = "countdownctl start \(option)\(ShellWord.quote(key))"
        let timing: TypedTiming
        do {
            timing = try TypedTiming(text, clock)
        } catch {
            try checkEnd(text, unless: error, behind: command, clock)
            let right = error.readings.filter {
                Self.accepts(["\(option)\(key)"] + $0.split(separator: " ").map(String.init))
            }
            throw .usage(error.sentence(proposing: right.map { "`\(command) \($0)`" }))
        }
        let notes = timing.notes(about: text, clock)
        switch timing {
        case .length(let length): return (try TypedTiming.atLeastOne(length), nil, notes)
        case .time(let time): return (nil, time.instant, notes)
        }
    }
}
