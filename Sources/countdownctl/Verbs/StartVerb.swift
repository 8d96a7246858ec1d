import ArgumentParser
import IPC

struct StartVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Start a countdown, or find it running.",
        usage: """
            countdownctl start KEY [DURATION | --for DURATION | --until TIME] [--restart | --extend | --fail]
                  [--label TEXT] [--meta NAME=VALUE]... [--forget] [--wait | --attach] [options]
            """,
        discussion: """
            Examples:
              countdownctl start tea 5m
              countdownctl start call --until 17:30 --label "Call the bank"
              countdownctl start tea 5m --restart     begin anew where it runs
              countdownctl start login/alice --fail && send-code
              countdownctl start tea 5m --wait && play gong.wav

            Without a duration it takes 60 s. Where the key runs or is paused, nothing
            changes, and what is left is told.
            """
    )

    @Argument(
        help: ArgumentHelp("The key, and how long it takes.", valueName: "key [duration]"),
        completion: KeyCompletion.kind
    )
    var words: [String] = []

    @Option(help: ArgumentHelp("The key, whatever it looks like.", valueName: "key"))
    var key: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("How long it takes.", valueName: "duration"))
    var length: String?

    @Option(help: ArgumentHelp("When it ends; it follows the system clock then.", valueName: "time"))
    var until: String?

    @Flag var choice: RunningChoice?

    @Option(help: ArgumentHelp("A text that is shown with it.", valueName: "text"))
    var label: String?

    @Option(help: ArgumentHelp("What programs keep with it.", valueName: "name=value"))
    var meta: [String] = []

    @Flag(help: "Keep nothing of it after its end.")
    var forget = false

    @Flag var stay: StayChoice?

    @OptionGroup var options: OutputOptions

    func perform() throws -> CommandStatus {
        let request = try StartRequest(self, clock: .local)
        let output = options.output
        for note in request.notes { output.say(note) }
        let daemon = try Daemon()
        guard let stay else {
            try tell(try reply(to: request.call) { method throws(Failure) in try daemon.call(method) }, output)
            return .success
        }
        let follower =
            stay == .attach ? try output.follower(of: daemon, .one) : try Follower(EndPrinter(output: output))
        var ends = EndWatch([request.call.key], of: daemon, output: output, showing: follower) { interruption in
            let reply = try reply(to: request.call) { method throws(Failure) in
                try daemon.call(method, unless: interruption)
            }
            if let reply { try tell(reply, output) }
            return reply
        }
        return try ends.run(tick: stay == .wait ? 0 : nil)
    }

    /// Makes the call; a refusal that somebody asked for by `--fail` says what runs.
    private func reply<Answer>(
        to call: Start,
        _ make: (Start) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        do {
            return try make(call)
        } catch {
            guard case .alreadyRunning(let countdown) = error.refusal else { throw error }
            throw Failure(.tryLater, "\(CountdownText.name(countdown)): \(alreadyThere(countdown))")
        }
    }

    private func tell(_ reply: Start.Reply, _ output: Output) throws {
        if let style = output.json { try output.print(json: JSONText.object(reply, style)) }
        let countdown = reply.countdown
        let clause: String
        switch reply.outcome {
        case .attached: clause = "\(alreadyThere(countdown)); \(advice(countdown))"
        // Its event says the same.
        case .started, .restarted, .extended:
            if stay == .attach { return }
            clause = "\(reply.outcome.rawValue), \(CountdownText().remaining(countdown))"
        }
        output.say("\(CountdownText.name(countdown)): \(clause)")
    }

    private func alreadyThere(_ countdown: Countdown) -> String {
        "is \(countdown.state.rawValue) already, \(CountdownText().remaining(countdown)); nothing changed"
    }

    private func advice(_ countdown: Countdown) -> String {
        guard countdown.state == .paused else { return "--restart begins anew" }
        let resume = "countdownctl resume \(ShellWord.quote(countdown.key))"
        return "`\(resume)` lets it run on, --restart begins anew"
    }
}

/// What `start` does where the key is running or paused, if not nothing.
enum RunningChoice: String, EnumerableFlag {
    case restart
    case extend
    case fail

    static func help(for value: RunningChoice) -> ArgumentHelp? {
        switch value {
        case .restart: "Where it runs, begin anew with what is said here."
        case .extend: "Where it runs, add the duration."
        case .fail: "Where it runs, do nothing and exit with 75."
        }
    }

    /// The same in the terms of the interface.
    var ifRunning: IfRunning {
        switch self {
        case .restart: .restart
        case .extend: .extend
        case .fail: .fail
        }
    }
}

/// Whether `start` stays until the end.
enum StayChoice: String, EnumerableFlag {
    case wait
    case attach

    static func help(for value: StayChoice) -> ArgumentHelp? {
        switch value {
        case .wait: "Wait for its end, as the verb wait does."
        case .attach: "Follow it to its end, as the verb attach does."
        }
    }
}
