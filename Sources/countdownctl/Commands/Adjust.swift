import ArgumentParser
import IPC
import Text

struct AdjustCommand: Subcommand {
    static var name: CommandName { .adjust }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Add time to a countdown, remove time from it, or set another end.",
        usage: "countdownctl adjust KEY (+DURATION | -DURATION | at TIME | --until TIME) [options]",
        discussion: """
            Examples:
              countdownctl adjust tea +1m
              countdownctl adjust tea -30 s
              countdownctl adjust call --until 17:45

            If no time would remain, the countdown finishes now. A paused countdown has no
            end that could be set.
            """
    )

    @Argument(
        help: ArgumentHelp("The key, or @next or @last; then the time to add or remove.", valueName: "key [±duration]"),
        completion: KeyCompletion.existing
    )
    var words: [String] = []

    @Option(name: .customLong("key"), help: KeyHelp.literal)
    var key: String?

    @Option(help: .hidden)
    var by: [String] = []

    @Option(help: ArgumentHelp("Set the end; it then follows the system clock.", valueName: "time"))
    var until: String?

    @OptionGroup var condition: RevisionOption
    @OptionGroup var options: OutputOptions

    func check() throws(CommandFailure) { _ = try request(.local) }

    func perform() throws -> ExitCode {
        let request = try request(.local)
        let output = options.output
        for note in request.notes { output.say(note) }
        let countdown: Countdown
        var client = try DaemonEndpoint().connect()
        do {
            countdown = try client.change(
                request.word,
                ifRevision: condition.ifRevision,
                found: { client, reference throws(ClientError) in try client.find(reference) },
                { client, key, revision throws(ClientError) in
                    var call = request.call
                    call.key = key
                    call.ifRevision = revision
                    return try client.call(call).countdown
                }
            )
        } catch .countdown(.noSuchCountdown(let name)) {
            throw CommandFailure(unknown: name, among: (try? client.timers(called: name)) ?? [])
        } catch {
            throw explained(CommandFailure(error))
        }
        if output.json { try output.print(json: JSONText.object(countdown)) }
        output.say("\(CountdownText.name(countdown)): \(sentence(about: countdown))")
        return .success
    }

    /// The arguments: the countdown to adjust, the call for it, and notes on how a time was understood.
    func request(_ clock: ClockText) throws(CommandFailure) -> (word: KeyWord, call: Adjust, notes: [String]) {
        let end = key == nil ? nameEnd(clock) : 0
        let (name, rest) = (words[..<end].joined(separator: " "), words[end...])
        guard let word = key.map(KeyWord.key) ?? (end > 0 ? KeyWord(typed: name) : nil) else {
            throw .usage("missing key; for example `countdownctl adjust tea +1m`")
        }
        try checkPlace(of: word, rest)
        try condition.check([word])
        let amount = (by + rest).joined(separator: " ")
        guard until != nil || !amount.isEmpty else {
            throw .usage("missing amount; for example `countdownctl adjust \(ShellWord.quote(word.text)) +1m`")
        }
        guard until == nil || amount.isEmpty, by.count < 2 else {
            throw .usage("use only one of +DURATION, -DURATION and --until")
        }
        var call = Adjust(key: word.text, ifRevision: condition.ifRevision)
        let time: TypedTiming
        if let until {
            time = .time(try ClockTime.read(until, clock))
        } else if let sign = amount.first, sign == "+" || sign == "-" {
            call.byUSec = try signed(sign, String(amount.dropFirst()), word.text)
            return (word, call, [])
        } else {
            time = try TypedTiming.read(amount, clock) {
                command(word.text, DurationParser.isRight($0) ? "+\($0)" : $0)
            }
        }
        switch time {
        case .time(let end):
            call.deadlineUSec = end.instant
            return (word, call, end.notes.map { $0.sentence(about: until ?? amount) })
        case .length(let length):
            // A minus sign before a word would be an option.
            let typed = amount.first?.isNumber == true ? amount : DurationFormat.render(length)
            let commands = ["+", "-"].map { command(word.text, $0 + typed) }.joined(separator: " or ")
            throw .usage("the amount needs a sign: \(commands)")
        }
    }

    /// The number of words before the amount or the time: a label may have several, and the amount is as long as it can be read.
    private func nameEnd(_ clock: ClockText) -> Int {
        let hasAmount = !by.isEmpty || until != nil
        let begins = { (word: String) in word.hasPrefix("+") || word == "at" }
        let read = words.indices.dropFirst().first {
            (!hasAmount || begins(words[$0])) && Self.isAmount(words[$0...], clock)
        }
        let end = read ?? (hasAmount ? words.count : words.firstIndex(where: begins) ?? 1)
        return min(max(end, 1), words.count)
    }

    private static func isAmount(_ words: ArraySlice<String>, _ clock: ClockText) -> Bool {
        let text = words.joined(separator: " ")
        return text.hasPrefix("+")
            ? DurationParser.isRight(String(text.dropFirst())) : (try? TypedTiming(text, clock)) != nil
    }

    /// Refuses an amount in the place of the key.
    private func checkPlace(of word: KeyWord, _ rest: ArraySlice<String>) throws(CommandFailure) {
        guard case .name(let amount) = word, let sign = amount.first, sign == "+" || sign == "-", let last = rest.last,
            DurationParser.isRight((amount + " " + rest.dropLast().joined(separator: " ")).dropFirst().description)
        else { return }
        let typed = ([last, amount] + rest.dropLast()).map(ShellWord.quote).joined(separator: " ")
        throw .usage("the key comes first: `countdownctl adjust \(typed)`")
    }

    private func signed(_ sign: Character, _ text: String, _ key: String) throws(CommandFailure) -> Int64 {
        do {
            return try DurationParser.parse(text) * (sign == "-" ? -1 : 1)
        } catch {
            throw .usage(error.sentence(proposing: error.readings.map { command(key, "\(sign)\($0)") }))
        }
    }

    private func command(_ key: String, _ amount: String) -> String {
        "`countdownctl adjust \(self.key == nil ? "" : "--key=")\(ShellWord.quote(key)) \(amount)`"
    }

    private func sentence(about countdown: Countdown) -> String {
        let text = CountdownText()
        return countdown.state == .finished
            ? "finished, because no time remained" : "adjusted, \(text.remaining(countdown))"
    }

    private func explained(_ failure: CommandFailure) -> CommandFailure {
        guard case .wrongState(let countdown) = failure.refusal else { return failure }
        guard countdown.state == .paused else { return CommandFailure(.notRunning, unchanged: countdown) }
        let resume = "`countdownctl resume \(ShellWord.quote(countdown.key))`"
        let clause = "a paused countdown has no end to set; \(resume) first, or use +DURATION"
        return CommandFailure(.notRunning, "\(CountdownText.name(countdown)): \(clause)")
    }
}
