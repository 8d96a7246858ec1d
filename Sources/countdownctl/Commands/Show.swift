import ArgumentParser
import IPC
import Text
import Varlink

struct ShowCommand: KeySubcommand {
    static var name: CommandName { .show }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Show a countdown.",
        usage: """
            countdownctl show KEY [--format TEMPLATE] [options]
            countdownctl show KEY --rate N/PERIOD... [options]
            """,
        discussion: """
            Examples:
              countdownctl show tea
              countdownctl show tea --json | jq .remainingUSec
              countdownctl show tea --format '{label} {remaining}'     for a prompt
              countdownctl show codes/alice --rate 3/10m               2 left

            Ended countdowns are shown as long as the daemon keeps them. The fields of a
            template are {key} {label} {remaining} {s} {percent} {end} {state}. If there is
            no such countdown, a template prints nothing, and the exit code is 4. The
            metadata run and undo, by which programs recognize their own countdowns, are
            printed with --json only.

            With --rate, it prints how many starts the rate has room for, and uses none. If
            there is none, the exit code is 75. With several, each has the key that run and
            start give it. With --json, the time until one more is left is moreUSec.
            """
    )

    @Argument(help: KeyHelp.word, completion: KeyCompletion.existing)
    var words: [String] = []

    @Option(help: KeyHelp.literal)
    var key: String?

    @Option(help: ArgumentHelp("Print this text with its fields filled in.", valueName: "template"))
    var format: String?

    @Option(help: ArgumentHelp("Show how many starts are left at this rate.", valueName: "n/period"))
    var rate: [String] = []

    @OptionGroup var options: OutputOptions

    /// A label may have several words.
    var word: String? { words.isEmpty ? nil : words.joined(separator: " ") }

    func perform() throws -> ExitCode {
        let word = try requiredKey()
        if !rate.isEmpty {
            guard format == nil else { throw CommandFailure.usage("use either --rate or --format") }
            return try showRates(of: word, options.output)
        }
        guard let format else { return try Self.show(word, options.output) }
        guard !options.json else { throw CommandFailure.usage("use either --json or --format") }
        let template = try Template(withField: format)
        do {
            let countdown = try DaemonEndpoint().countdown(of: word)
            try options.output.print([template.render(countdown, clock: .local)])
            return .success
        } catch let failure as CommandFailure where failure.exitCode == .unknownKey {
            return failure.exitCode
        }
    }

    private func showRates(of word: KeyWord, _ output: Output) throws -> ExitCode {
        if case .reference(let reference) = word { _ = try newKey(reference.rawValue) }
        let limits = try CallLimits(of: word.text, rates: rate, cooldown: nil)
        let cooldowns = limits.all.compactMap { limit in limit.rate?.cooldown(limit.key) }
        let reply = try DaemonEndpoint().call(StartAll(cooldowns: cooldowns, dryRun: true))
        for room in reply.rooms {
            if output.json { try output.print(json: JSONText.object(room)) }
        }
        if !output.json, !output.isQuiet {
            let lines = reply.rooms.map { room in
                reply.rooms.count == 1 ? room.sentence : "\(PrintableText.escape(room.key)): \(room.sentence)"
            }
            try output.print(lines)
        }
        return reply.accepted ? .success : .tryLater
    }

    static func show(_ word: KeyWord, _ output: Output) throws -> ExitCode {
        let countdown = try DaemonEndpoint().countdown(of: word)
        if output.json {
            try output.print(json: JSONText.object(countdown))
        } else if !output.isQuiet {
            try output.print(CountdownDetails(countdown: countdown, clock: .local, palette: output.palette).lines)
        }
        return .success
    }
}

/// A countdown as `show` prints it: its name, then one field per line.
struct CountdownDetails {
    /// The names of metadata by which programs recognize their own countdowns, and which say nothing to people.
    private static let tokens = [CooldownMark.token, UndoRecord.mark]

    let countdown: Countdown
    let clock: ClockText
    let palette: Palette

    var lines: [String] {
        let state = palette.paint(countdown.state.rawValue, Palette.Tint(countdown.state))
        let length = DurationFormat.rounded(countdown.durationUSec)
        var fields = [
            ("State", state),
            ("Remaining", "\(RemainingFormat.render(countdown.remainingUSec)) of \(length)\(progress)"),
            ("Started", clock.render(countdown.startedUSec)),
        ]
        if let end = countdown.endedUSec {
            fields.append(("Ended", clock.render(end)))
        } else if let deadline = countdown.deadlineUSec {
            // It is the exception.
            let rule = countdown.clock == .wall ? " by the system clock" : ""
            fields.append(("Ends", "\(clock.render(deadline))\(rule)"))
        }
        for (name, value) in (countdown.metadata ?? [:]).inOrder where !Self.tokens.contains(name) {
            fields.append(("Metadata", "\(PrintableText.escape(name))=\(PrintableText.escape(value))"))
        }
        if countdown.forget { fields.append(("Forget", "yes, nothing is kept after its end")) }
        fields.append(("Revision", "\(countdown.revision)"))
        return [palette.paint(CountdownText.name(countdown), .bold)]
            + fields.map { name, value in "\(String(repeating: " ", count: 9 - name.count))\(name): \(value)" }
    }

    private var progress: String {
        guard countdown.state != .finished, countdown.durationUSec > 0 else { return "" }
        return ", \(countdown.percentGone) % elapsed"
    }
}

extension Cooldown.Room {
    /// `2 left`, or when there is one again.
    fileprivate var sentence: String {
        guard left == 0 else { return "\(left) left" }
        if countdown?.state == .paused { return "none left, it is paused" }
        guard let moreUSec else { return "none left, others are waiting for it" }
        return "none left, again in \(StartRefusal.duration(moreUSec))"
    }
}
