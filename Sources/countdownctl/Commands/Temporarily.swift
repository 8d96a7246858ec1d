import ArgumentParser
import Glibc
import IPC
import System
import Varlink

struct TemporarilyCommand: Subcommand {
    static let configuration = CommandConfiguration(
        subcommand: "temporarily",
        abstract: "Change something for a while, and then back.",
        usage: """
            countdownctl temporarily NAME [DURATION | --until TIME] --undo WORDS
                  [options] -- COMMAND [ARGUMENT]...
            """,
        discussion: """
            Examples:
              countdownctl temporarily dnd 1h --undo 'makoctl mode -r dnd' \\
                -- makoctl mode -a dnd
              countdownctl temporarily firewall 2m --undo 'nft -f /etc/nftables.conf' \\
                -- nft -f new.conf
              countdownctl keep firewall               it works: it is not undone
              countdownctl undo dnd                    back now
              countdownctl adjust undo/dnd +30m

            The undo must be repeatable: it runs again if it was interrupted, and it may
            run although COMMAND did not, if the machine stopped before.

            COMMAND runs at once. At the end of the countdown undo/NAME, the undo runs,
            also if countdownctl, the daemon or the machine stopped meanwhile: then as
            soon as the services of the user run again. If COMMAND fails, the undo runs
            at once, and the exit code is COMMAND's.

            If NAME is to be undone already, by the same undo, the later deadline wins,
            and COMMAND does not run again. cancel and finish of the countdown undo the
            change; a paused countdown waits until resume.

            The undo runs with the PATH and in the directory of this call, the other
            variables are those of the user's services. WORDS are split as --exec of watch
            splits them; there are no fields. --shell passes WORDS to sh -c.
            """
    )

    @Argument(help: "A name for the change; the key of the countdown is undo/NAME.")
    var name: String?

    @Argument(help: ArgumentHelp("How long the change lasts.", valueName: "duration"))
    var positional: String?

    @Option(help: ArgumentHelp("When it is undone, such as 17:30.", valueName: "time"))
    var until: String?

    @Option(help: ArgumentHelp("The command that undoes the change.", valueName: "words"))
    var undo: String?

    @Flag(help: "Pass the undo to sh -c.")
    var shell = false

    @Option(help: ArgumentHelp("How long the undo may take. (default: 1m)", valueName: "duration"))
    var undoTimeout: String?

    @Option(help: ArgumentHelp("A text to show with the countdown.", valueName: "text"))
    var label: String?

    @Option(help: ArgumentHelp("Metadata such as wake=yes.", valueName: "name=value"))
    var meta: [String] = []

    @OptionGroup var messages: MessageOptions

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    func perform() throws -> ExitCode {
        let wish = try UndoWish(self, .local)
        let output = Output(isQuiet: messages.quiet, json: nil, palette: .plain)
        let keeper = try UndoKeeper()
        for note in wish.notes { output.say(note) }
        let file = try keeper.prepare(wish)
        let name = PrintableText.escape(wish.record.name)
        guard file.record.stage == .prepared else {
            output.say("\(name): \(keeper.promise(file.record)); it was changed before")
            return .success
        }
        let code = try run(file, output, keeper)
        if code != .success {
            output.warn("\(name): the command failed, so the change is undone now")
            try keeper.finish(file)
            file.unlock()
            _ = try keeper.awaitUndo(of: file.id, for: file.record, output)
            return code
        }
        output.say("\(name): \(keeper.promise(file.record))")
        return .success
    }

    /// Runs the command while the file is locked.
    private func run(_ file: UndoFile, _ output: Output, _ keeper: UndoKeeper) throws(CommandFailure) -> ExitCode {
        let ending: ProcessEnding
        do throws(CommandFailure) {
            ending = try ForegroundCommand(words: command).run()
        } catch {
            output.warn("countdownctl: \(error.sentence)")
            return error.exitCode
        }
        guard ending == .exited(code: 0) else { return ending.exitCode }
        var record = file.record
        record.stage = .changed
        try file.write(record)
        return .success
    }
}

/// What the arguments of `temporarily` ask for.
struct UndoWish {
    /// The file as it would be made.
    let record: UndoRecord
    /// Microseconds; nil if a time was typed.
    let durationUSec: Int64?
    /// What a user may want to know about how the time was understood.
    let notes: [String]

    init(_ typed: TemporarilyCommand, _ clock: ClockText) throws(CommandFailure) {
        let example = "`countdownctl temporarily dnd 1h --undo 'makoctl mode -r dnd' -- makoctl mode -a dnd`"
        guard let name = typed.name else { throw .usage("missing name; for example \(example)") }
        let isPrintable = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard !name.isEmpty, name.utf8.count <= 250, isPrintable else {
            throw .usage("invalid name \(quoted(name)): use 1 to 250 bytes without control characters")
        }
        guard !typed.command.isEmpty else { throw .usage("missing command; for example \(example)") }
        guard let undo = typed.undo else { throw .usage("missing --undo; for example \(example)") }
        let words = typed.shell ? ["sh", "-c", undo] : try CommandLineText.words(undo, of: "--undo")
        var timeout: Int64 = 60_000_000
        if let text = typed.undoTimeout { timeout = try TypedTiming.atLeastOne(DurationParser.read(text)) }
        let timing = try Self.timing(typed, name, clock)
        let path = Environment.value(of: "PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        guard Program.find(words[0], path: path) != nil else {
            throw CommandFailure(
                .notFound,
                "cannot run --undo: \(quoted(words[0])) was not found, or cannot be executed"
            )
        }
        let here = Machine()
        record = UndoRecord(
            name: name,
            words: words,
            directory: Environment.workingDirectory ?? "/",
            path: path,
            machine: here.machine,
            boot: here.boot,
            deadlineUSec: timing.deadline,
            timeoutUSec: timeout,
            label: typed.label,
            metadata: try StartRequest.metadata(typed.meta) ?? [:]
        )
        durationUSec = timing.duration
        notes = timing.notes
    }

    private static func timing(
        _ typed: TemporarilyCommand,
        _ name: String,
        _ clock: ClockText
    ) throws(CommandFailure) -> (duration: Int64?, deadline: Int64, notes: [String]) {
        if let until = typed.until {
            guard typed.positional == nil else { throw .usage("use either DURATION or --until") }
            let time = try ClockTime.read(until, clock)
            return (nil, time.instant, time.notes.map { $0.sentence(about: until) })
        }
        guard let text = typed.positional else {
            throw .usage("missing duration: how long the change lasts, such as 1h, or --until 17:30")
        }
        let timing = try TypedTiming.read(text, clock) {
            "`countdownctl temporarily \(ShellWord.quote(name)) \($0) --undo … -- COMMAND`"
        }
        let notes = timing.notes(about: text, clock)
        switch timing {
        case .length(let length):
            let length = try TypedTiming.atLeastOne(length)
            let (deadline, isTooLong) = clock.now.addingReportingOverflow(length)
            guard !isTooLong else { throw .usage("invalid duration: use 1us to 100 years") }
            return (length, deadline, notes)
        case .time(let time): return (nil, time.instant, notes)
        }
    }
}
