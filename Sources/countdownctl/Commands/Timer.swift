import ArgumentParser
import IPC
import System
import Text

struct TimerCommand: Subcommand {
    static var name: CommandName { .timer }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Start a countdown whose key is made from its label.",
        usage: """
            countdownctl timer DURATION|TIME [LABEL]... [--meta NAME=VALUE]...
                  [--wait | --attach] [options]
            countdownctl DURATION|TIME [LABEL]... [options]
            """,
        discussion: """
            Examples:
              countdownctl timer 5m Green tea
              countdownctl 5 min Green tea            the same
              countdownctl in 1 h 30 m Bread
              countdownctl at 17:30 Call the bank     or 5:30pm, or tomorrow 9:00
              countdownctl in 2 days at 10:00 Dentist
              countdownctl 12m Pasta --attach
              countdownctl 45m Laundry --wait && play gong.wav

            The key is timer/green-tea: lower case, with a hyphen for everything in ASCII
            that is no letter or digit; other scripts stay. Without a label it is timer/5m.
            If the key is already running or paused, a number follows: timer/green-tea-2.
            cancel Green tea finds the timer by its label. The key is printed if standard
            output is not a terminal, so key=$(...) has it.

            17:30 alone is 17 minutes and 30 seconds. If words of the label could carry the
            duration or the time on, as in 1h 30 rolls or at 17:30 EST call, nothing is
            started, and all readings are shown; --label takes the label apart from them.
            Before a label, a number needs its unit.
            """
    )

    @Argument(help: ArgumentHelp("The duration or time, and the words of the label.", valueName: "duration [label]"))
    var words: [String] = []

    @Option(help: ArgumentHelp("The label, apart from the duration.", valueName: "text"))
    var label: String?

    @Option(help: ArgumentHelp("The end; it then follows the system clock.", valueName: "time"))
    var until: String?

    @Option(help: ArgumentHelp("Metadata for programs.", valueName: "name=value"))
    var meta: [String] = []

    @Flag var stay: StayChoice?

    @Flag(help: plainHelp) var plain = false

    @OptionGroup var options: OutputOptions

    func check() throws(CommandFailure) { _ = try request(.local) }

    func perform() throws -> ExitCode {
        let (request, notes) = try request(.local)
        if plain, stay != .attach { throw CommandFailure.usage("--plain needs --attach") }
        let output = options.output
        if let note = NotifierStatus.wakeNote(for: request.metadata) { output.say(note) }
        for note in notes { output.say(note) }
        let daemon = try DaemonEndpoint()
        let reply = try start(request, on: daemon)
        if output.json { try output.print(json: JSONText.object(reply)) }
        let countdown = reply.countdown
        if stay != .attach {
            output.say("\(CountdownText.name(countdown)): started, \(CountdownText().remaining(countdown))")
        }
        guard let stay else {
            // The key is new to the user's script.
            if !output.json, !StandardStream.output.isTerminal { try output.print([countdown.key]) }
            return .success
        }
        return try stay.follow(countdown.key, of: daemon, output, FollowStyle(isPlain: plain))
    }

    /// The call for the arguments, with the key that it tries first, and notes on how a time was understood.
    func request(_ clock: ClockText) throws(CommandFailure) -> (call: Start, notes: [String]) {
        let (text, timing, rest) = try timing(clock)
        guard label == nil || rest.isEmpty else {
            let words = rest.map(ShellWord.quote).joined(separator: " ")
            throw .usage("unexpected argument \(words): --label is the label")
        }
        let label = label ?? rest.joined(separator: " ")
        var call = Start(key: "", ifRunning: .fail, label: label.isEmpty ? nil : label)
        call.metadata = try StartRequest.metadata(meta)
        switch timing {
        case .length(let length):
            call.durationUSec = try TypedTiming.atLeastOne(length)
            call.key = TimerKey.make(from: label) ?? TimerKey.make(of: length)
        case .time(let time):
            call.deadlineUSec = time.instant
            call.key = TimerKey.make(from: label) ?? TimerKey.make(at: time, in: clock.zone)
        }
        return (call, timing.notes(about: text, clock))
    }

    private func timing(
        _ clock: ClockText
    ) throws(CommandFailure) -> (text: String, timing: TypedTiming, rest: [String]) {
        if let until {
            guard words.isEmpty || (try? TimerWords(words, clock)) == nil else {
                throw .usage("use either DURATION or --until; --label takes a label that begins with a number")
            }
            // The words may carry the time on.
            let typed = try TimerWords(["at", until] + words, clock)
            return (String(typed.text.dropFirst(3)), typed.timing, typed.label)
        }
        guard !words.isEmpty else {
            throw .usage("missing duration; for example `countdownctl timer 5m Green tea`")
        }
        if label != nil, let timing = try? TypedTiming(words.joined(separator: " "), clock) {
            return (words.joined(separator: " "), timing, [])
        }
        let typed = try TimerWords(words, clock)
        return (typed.text, typed.timing, typed.label)
    }

    /// Starts it under the first of its keys that is neither running nor paused.
    private func start(_ request: Start, on daemon: DaemonEndpoint) throws(CommandFailure) -> Start.Reply {
        var client = try daemon.connect()
        var call = request
        var number = 1
        while true {
            do {
                return try client.call(call)
            } catch .countdown(.alreadyRunning) {
                number += 1
                call.key = "\(request.key)-\(number)"
            } catch {
                throw CommandFailure(error)
            }
        }
    }
}
