import ArgumentParser
import Glibc
import IPC
import System
import Text
import Varlink

struct TemporarilyCommand: Subcommand {
    static var name: CommandName { .temporarily }

    static let configuration = CommandConfiguration(
        name: name,
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

            If NAME is to be undone already, by the same undo in the same directory, the
            later deadline wins, and COMMAND does not run again, unless its undo has begun
            and failed. cancel and finish of the countdown undo the
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
        let (wish, notes) = try wish(.local)
        let output = Output(isQuiet: messages.quiet, json: false, palette: .plain)
        let keeper = try UndoKeeper(withService: ())
        try keeper.checkMachine()
        for note in notes { output.say(note) }
        let file = try keeper.prepare(wish)
        let name = PrintableText.escape(wish.name)
        guard file.record.stage == .prepared else {
            output.say("\(name): \(keeper.promise(file.record)); it was changed before")
            return .success
        }
        let code = try run(file, output)
        if code == .success {
            output.say("\(name): \(keeper.promise(file.record))")
        } else {
            output.warn("\(name): the command failed, so the change is undone now")
            do throws(CommandFailure) {
                _ = try keeper.undo(file, output)
            } catch {
                output.warn("countdownctl: \(error.sentence)")
            }
        }
        return code
    }

    /// Runs the command while the file is locked.
    private func run(_ file: UndoFile, _ output: Output) throws(CommandFailure) -> ExitCode {
        let ending: ProcessEnding
        do throws(CommandFailure) {
            ending = try ForegroundCommand(words: command).run()
        } catch {
            output.warn("countdownctl: \(error.sentence)")
            return error.exitCode
        }
        guard ending == .exited(code: 0) else { return ending.exitCode }
        try file.update { $0.stage = .changed }
        return .success
    }

    /// The file as it would be made for the arguments, and notes on how they were understood.
    private func wish(_ clock: ClockText) throws(CommandFailure) -> (UndoRecord, notes: [String]) {
        let example =
            "for example `countdownctl temporarily dnd 1h --undo 'makoctl mode -r dnd' -- makoctl mode -a dnd`"
        guard let typed = name else { throw .usage("missing name; \(example)") }
        let name = UndoRecord.name(typed: typed)
        let isPrintable = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard !name.isEmpty, name.utf8.count <= 250, isPrintable else {
            throw .usage("invalid name \(quoted(typed)): use 1 to 250 bytes without control characters")
        }
        guard !command.isEmpty else { throw .usage("missing command; \(example)") }
        guard let undo else { throw .usage("missing --undo; \(example)") }
        let words = shell ? ["sh", "-c", undo] : try CommandLineText.words(undo, of: "--undo")
        let (text, timing) = try timing(name, clock)
        let timeout = try TypedTiming.atLeastOne(DurationParser.read(undoTimeout ?? "1m"))
        let metadata = try StartRequest.metadata(meta) ?? [:]
        let directory = try Self.workingDirectory()
        let search = SearchPath(
            path: Environment.value(of: "PATH") ?? "/usr/local/bin:/usr/bin:/bin",
            directory: directory
        )
        guard let program = search.find(words[0]) else {
            throw CommandFailure(
                .notFound,
                "cannot run --undo: \(quoted(words[0])) was not found, or cannot be executed; --shell passes it to sh"
            )
        }
        let here = Machine()
        var record = UndoRecord(
            name: name,
            words: words,
            program: program,
            directory: directory,
            path: search.path,
            machine: here.machine,
            boot: here.boot,
            deadlineUSec: clock.now,
            timeoutUSec: timeout,
            label: label,
            metadata: metadata
        )
        switch timing {
        case .length(let length):
            record.durationUSec = try TypedTiming.atLeastOne(length)
            let (deadline, isTooLong) = clock.now.addingReportingOverflow(length)
            guard !isTooLong else { throw .usage("invalid duration: use 1us to 100 years") }
            record.deadlineUSec = deadline
        case .time(let time): record.deadlineUSec = time.instant
        }
        let wakeNote = NotifierStatus.wakeNote(for: metadata).map { [$0] } ?? []
        return (record, timing.notes(about: text, clock) + wakeNote)
    }

    /// The directory in which the undo runs, too.
    ///
    /// - Throws: that the file of the change cannot name it.
    private static func workingDirectory() throws(CommandFailure) -> String {
        let directory = Environment.workingDirectory
        guard let directory, FileIdentity(of: directory) == FileIdentity(of: ".") else {
            let fault = directory.map { "the name of the working directory \(quoted($0)) is not UTF-8" }
            let sentence = fault ?? "the working directory was removed"
            let remedy = "first `cd` to another one"
            throw CommandFailure(.unavailable, "\(sentence), so the undo could not run in it: \(remedy)")
        }
        return directory
    }

    private func timing(_ name: String, _ clock: ClockText) throws(CommandFailure) -> (String, TypedTiming) {
        if let until {
            guard positional == nil else { throw .usage("use either DURATION or --until") }
            return (until, .time(try ClockTime.read(until, clock)))
        }
        guard let text = positional else {
            throw .usage("missing duration: how long the change lasts, such as 1h, or --until 17:30")
        }
        let word = ShellWord.quote(name)
        return (
            text, try TypedTiming.read(text, clock) { "`countdownctl temporarily \(word) \($0) --undo … -- COMMAND`" }
        )
    }
}
