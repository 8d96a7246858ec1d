import ArgumentParser
import IPC

struct AdjustCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "adjust",
        abstract: "Add time to a countdown, remove time from it, or set another end.",
        usage: "countdownctl adjust KEY (+DURATION | -DURATION | --until TIME) [options]",
        discussion: """
            Examples:
              countdownctl adjust tea +1m
              countdownctl adjust tea -30s
              countdownctl adjust call --until 17:45

            If no time would remain, the countdown finishes now. A paused countdown has no
            end that could be set.
            """
    )

    @OptionGroup var argument: KeyArgument

    @Argument(help: ArgumentHelp("The time to add or remove.", valueName: "+duration|-duration"))
    var amount: String?

    @Option(help: .hidden)
    var by: String?

    @Option(help: ArgumentHelp("Set the end; it then follows the system clock.", valueName: "time"))
    var until: String?

    @OptionGroup var condition: RevisionOption
    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let (request, notes) = try request(.local)
        let output = options.output
        for note in notes { output.say(note) }
        let countdown: Countdown
        do {
            countdown = try DaemonEndpoint().call(request).countdown
        } catch {
            throw explained(error)
        }
        if let style = output.json { try output.print(json: JSONText.object(countdown, style)) }
        output.say("\(CountdownText.name(countdown)): \(sentence(about: countdown))")
        return .success
    }

    /// The call for the arguments, and notes on how a time was understood.
    func request(_ clock: ClockText) throws(CommandFailure) -> (Adjust, notes: [String]) {
        let key = try argument.required(by: "adjust")
        let typed = [amount, by, until].compactMap(\.self)
        guard let text = typed.first else {
            throw .usage("missing amount; for example `countdownctl adjust \(ShellWord.quote(key)) +1m`")
        }
        guard typed.count == 1 else { throw .usage("use only one of +DURATION, -DURATION and --until") }
        guard until != nil else {
            return (Adjust(key: key, byUSec: try signed(text, key), ifRevision: condition.ifRevision), [])
        }
        let time = try ClockTime.read(text, clock)
        let call = Adjust(key: key, deadlineUSec: time.instant, ifRevision: condition.ifRevision)
        return (call, time.notes.map { $0.sentence(about: text) })
    }

    private func signed(_ text: String, _ key: String) throws(CommandFailure) -> Int64 {
        let sign: Int64
        switch text.first {
        case "+": sign = 1
        case "-": sign = -1
        default:
            _ = try DurationParser.read(text)
            let word = ShellWord.quote(key)
            throw .usage(
                "the amount needs a sign: `countdownctl adjust \(word) +\(text)` or `countdownctl adjust \(word) -\(text)`"
            )
        }
        return sign * (try DurationParser.read(String(text.dropFirst())))
    }

    private func sentence(about countdown: Countdown) -> String {
        let text = CountdownText()
        return countdown.state == .finished
            ? "finished, because no time remained" : "adjusted, \(text.remaining(countdown))"
    }

    private func explained(_ failure: CommandFailure) -> CommandFailure {
        guard case .wrongState(let countdown) = failure.refusal else { return failure }
        let name = CountdownText.name(countdown)
        guard countdown.state == .paused else {
            return CommandFailure(.notRunning, "\(name): nothing changed: it is \(CountdownText().state(countdown))")
        }
        let resume = "countdownctl resume \(ShellWord.quote(countdown.key))"
        return CommandFailure(
            .notRunning,
            "\(name): a paused countdown has no end to set; `\(resume)` first, or use +DURATION"
        )
    }
}
