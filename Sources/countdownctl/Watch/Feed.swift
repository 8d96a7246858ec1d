import ArgumentParser
import IPC
import System
import Text

/// A watch for programs: it prints the lines of a feed, or runs a command for events, until it is stopped.
struct Feed {
    let watch: Watch
    let daemon: DaemonEndpoint
    let output: Output
    /// Prints events without `--format`.
    private let printer: LinePrinter
    private var feed: FeedPrinter?
    private let hooks: HookRunner?
    private let file: CursorFile?
    private let interruption: Interruption

    /// Prepares a feed; if the file has a revision, the watch continues there. The line is nil without `--format`, the
    /// hook without `--exec`, the claims without `--claim`, the file without `--cursor-file`.
    init(
        _ watch: Watch,
        of daemon: DaemonEndpoint,
        output: Output,
        line: FeedLine?,
        hook: Hook?,
        claims: EndClaims?,
        file: CursorFile?
    ) throws(CommandFailure) {
        var watch = watch
        if let stored = try file?.read() {
            // A file that cannot be written is reported before a command runs.
            try file?.write(stored)
            watch.since = stored
        }
        self.watch = watch
        self.file = file
        self.daemon = daemon
        self.output = hook == nil ? output : output.impatient
        printer = LinePrinter(output: output, pace: watch.tickUSec == nil ? TickPace() : nil)
        feed = line.map(FeedPrinter.init)
        hooks = try hook.map { hook throws(CommandFailure) in
            try HookRunner(
                hook,
                output: output,
                claims: claims.map { ($0, daemon) },
                file: file,
                since: file == nil ? nil : watch.since
            )
        }
        interruption = try Interruption(andReaderOf: .output, with: hooks)
    }

    /// Follows until Ctrl-C, or until the reader of the output has left. If the daemon does not run, a feed for a bar
    /// waits for it.
    mutating func run() throws -> ExitCode {
        defer { hooks?.terminate() }
        var options = ResumableWatch.FailureOptions()
        options.waitsForDaemon = feed != nil
        // The runner knows which of the events have had their commands.
        if file != nil { options.trimmedHistory = .resumeFromOldest }
        let following = ResumableWatch(watch, options: options)
        var stream = try EventStream(following, of: daemon, interruption: interruption)
        while true {
            try feed?.passDeadline()
            if hooks?.isFull == true {
                if interruption.wait(until: feed?.deadline) == .interrupted { return leavingStatus }
                continue
            }
            switch try stream.next(until: feed?.deadline) {
            case .events(let events): try handle(events)
            case .notice(let notice, let sentence): try handle(notice, sentence)
            case .timedOut: break
            case .interrupted: return leavingStatus
            }
        }
    }

    private mutating func handle(_ events: [Event]) throws {
        let isSynced = events.contains { $0.type == .synced }
        if feed == nil { try printer.show(events) } else { try feed?.show(events) }
        hooks?.enqueue(events)
        // If the daemon is away, it comes back with another `synced`.
        guard let hooks, hooks.needsCountdowns, isSynced, var client = try? daemon.connect() else { return }
        let list = List(match: watch.match, states: [.running], keys: watch.keys)
        if let countdowns = try? client.list(list) { hooks.begin(with: countdowns) }
    }

    /// Checks that the daemon has reached the revision of the file, after it has refused to continue from it.
    private func checkHistory() throws(CommandFailure) {
        guard let file, let received = hooks?.received else { return }
        let newest = try daemon.call(GetStatus()).revision
        // A daemon that has restarted meanwhile has no revision before its store is open.
        guard newest > 0, received > newest else { return }
        throw .usage(
            """
            invalid --cursor-file \(quoted(file.path)): its revision \(received) is later than the daemon's newest, \(newest), \
            so it is of another daemon or store; remove the file to begin now
            """
        )
    }

    private mutating func handle(_ notice: WatchEvent, _ sentence: String?) throws {
        switch notice {
        case .lost:
            hooks?.watchWasLost()
            try feed?.showNothing()
        case .historyTrimmed:
            hooks?.watchWasLost()
            try checkHistory()
            try feed?.beginAfresh()
        case .forgotten: try feed?.forget(notice)
        default: break
        }
        if let sentence { output.say(sentence) }
    }

    /// It is not a failure if the reader has left.
    private var leavingStatus: ExitCode { interruption.hasReaderLeft ? .success : .interrupted }
}

/// Prints a line of a feed if it has changed.
struct FeedPrinter {
    /// How long a finished countdown is shown, in microseconds.
    private static let finishedLength: Int64 = 5_000_000

    private let line: FeedLine
    private var board: FeedBoard
    private var isSynced = false
    private var last: String?
    /// The key of the countdown that is shown before the others.
    private var first: String?
    /// When the finished countdown disappears.
    private(set) var deadline: MonotonicDeadline?

    init(_ line: FeedLine) {
        self.line = line
        board = FeedBoard(shown: line.shown)
    }

    mutating func show(_ events: [Event]) throws(StreamFailure) {
        board.board.count(to: .microseconds(BootClock.now))
        for event in events {
            if event.type == .synced { isSynced = true }
            if board.apply(event) { deadline = .after(microseconds: Self.finishedLength) }
        }
        // Before synced, countdowns arrive one by one; ticks of countdowns after the first change little.
        guard isSynced, events.contains(where: { $0.type != .tick || $0.key == first }) else { return }
        try print()
    }

    /// Removes countdowns that have ended.
    mutating func forget(_ forgotten: WatchEvent) throws(StreamFailure) {
        board.board.apply(forgotten)
        try print()
    }

    /// Shows no countdown while the daemon is away.
    mutating func showNothing() throws(StreamFailure) {
        isSynced = false
        try print([])
    }

    /// Starts again without countdowns, because the new watch sends all of them.
    mutating func beginAfresh() throws(StreamFailure) {
        board = FeedBoard(shown: line.shown)
        deadline = nil
        try showNothing()
    }

    /// Removes the finished countdown after its time.
    mutating func passDeadline() throws(StreamFailure) {
        guard let deadline, deadline.remainingUSec == 0 else { return }
        self.deadline = nil
        board.finished = nil
        board.board.count(to: .microseconds(BootClock.now))
        if isSynced { try print() }
    }

    private mutating func print() throws(StreamFailure) { try print(board.countdowns) }

    private mutating func print(_ countdowns: [Countdown]) throws(StreamFailure) {
        first = countdowns.first?.key
        let text = line.render(countdowns, clock: .local)
        guard text != last else { return }
        let preamble = last == nil ? line.preamble ?? "" : ""
        last = text
        try StandardStream.output.write(Array("\(preamble)\(text)\n".utf8))
    }
}

/// The options of a watch for programs.
struct FeedOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Print a line for each change: json, waybar, i3bar or a template.", valueName: "format"),
        completion: .list(["json", "waybar", "i3bar"])
    )
    var format: String?

    @Option(help: ArgumentHelp("The class is soon from this remaining time. (default: 1m)", valueName: "duration"))
    var soon: String?

    @Option(help: ArgumentHelp("The class is urgent from this remaining time. (default: 10s)", valueName: "duration"))
    var urgent: String?

    @Flag(help: "With --format, show the cooldowns of run, button and --rate, too.")
    var cooldowns = false

    @Option(
        help: ArgumentHelp("The events for --exec, such as finished,cancelled.", valueName: "event"),
        completion: .list(Hook.types.map(\.rawValue))
    )
    var on: [String] = []

    @Option(help: ArgumentHelp("Run the command when this time is left, too.", valueName: "duration"))
    var before: String?

    @Option(help: ArgumentHelp("Run this command for each event of --on.", valueName: "command"))
    var exec: String?

    @Option(
        help: ArgumentHelp("Continue where the last run of --exec stopped.", valueName: "file"),
        completion: .file()
    )
    var cursorFile: String?

    @Flag(help: "Run the command of --exec with sh.")
    var shell = false

    @Option(help: ArgumentHelp("Terminate the command after this time. (default: 1m)", valueName: "duration"))
    var execTimeout: String?

    @Option(help: ArgumentHelp("Of all watches with this name, one runs the command for an end.", valueName: "name"))
    var claim: String?

    @Option(help: ArgumentHelp("How long a claim lasts. (default: 1h)", valueName: "duration"))
    var claimFor: String?

    /// The claims of ends; nil without `--claim`.
    func claims() throws(CommandFailure) -> EndClaims? {
        guard let claim else {
            if claimFor != nil { throw .usage("--claim-for needs --claim") }
            return nil
        }
        guard exec != nil else { throw .usage("--claim needs --exec") }
        if before != nil { throw .usage("--before cannot be combined with --claim") }
        let ends: Set = [Event.Kind.finished.rawValue, Event.Kind.cancelled.rawValue]
        let names = on.flatMap { $0.split(separator: ",").map(String.init) }
        if let other = names.first(where: { !ends.contains($0) }) {
            throw .usage("--claim is for ends: use --on finished or --on cancelled, not \(quoted(other))")
        }
        let length = try claimFor.map(DurationParser.read)
        return try EndClaims(name: claim, length: length ?? 3_600_000_000)
    }

    /// The format of the lines; nil without `--format`.
    func line(of selection: KeySelection) throws(CommandFailure) -> FeedLine? {
        guard let format else {
            guard soon == nil, urgent == nil else { throw .usage("--soon and --urgent need --format") }
            guard !cooldowns else { throw .usage("--cooldowns needs --format") }
            return nil
        }
        var thresholds = FeedClass.Thresholds()
        if let soon { thresholds.soon = try DurationParser.read(soon) }
        if let urgent { thresholds.urgent = try DurationParser.read(urgent) }
        let shown = ShownCountdowns(hasCooldowns: cooldowns, selection: selection)
        return FeedLine(format: try FeedFormat(format), thresholds: thresholds, shown: shown)
    }

    /// The file for the cursor, locked; nil without `--cursor-file`.
    func file(since: Int64?) throws(CommandFailure) -> CursorFile? {
        guard let cursorFile else { return nil }
        // Its lines need every countdown, and a watch that continues reports only those that have changed.
        guard format == nil else { throw .usage("use either --format or --cursor-file") }
        guard since == nil else { throw .usage("use either --since or --cursor-file") }
        return try CursorFile(path: cursorFile)
    }

    /// The command for events; nil without `--exec`.
    func hook() throws(CommandFailure) -> Hook? {
        guard let exec else {
            guard on.isEmpty, before == nil, !shell, execTimeout == nil, cursorFile == nil else {
                throw .usage(
                    "missing --exec; for example `countdownctl watch --on finished --exec 'notify-send {label}'`"
                )
            }
            return nil
        }
        guard !on.isEmpty || before != nil else { throw .usage("missing --on; for example --on finished") }
        let before = try before.map(DurationParser.read)
        let timeout = try execTimeout.map(DurationParser.read)
        return try Hook(on: on, before: before, exec: exec, shell: shell, timeout: timeout ?? 60_000_000)
    }
}
