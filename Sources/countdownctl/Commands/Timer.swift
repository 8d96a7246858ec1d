import ArgumentParser
import IPC
import System

struct TimerCommand: Subcommand {
    static let configuration = CommandConfiguration(
        subcommand: "timer",
        abstract: "Start a countdown whose key is made from its label.",
        usage: """
            countdownctl timer DURATION [LABEL]... [--meta NAME=VALUE]...
                  [--wait | --attach] [options]
            countdownctl DURATION [LABEL]... [options]
            """,
        discussion: """
            Examples:
              countdownctl timer 5m Green tea
              countdownctl 5m Green tea               the same
              countdownctl 12m Pasta --attach
              countdownctl 45m Laundry --wait && play gong.wav

            The key is timer/green-tea: lower case, with a hyphen for everything in ASCII
            that is no letter or digit; other scripts stay. Without a label it is timer/5m.
            If the key is already running or paused, a number follows: timer/green-tea-2.
            `countdownctl cancel Green tea` finds the timer by its label.
            """
    )

    @Argument(help: ArgumentHelp("The duration, and the words of the label.", valueName: "duration [label]"))
    var words: [String] = []

    @Option(help: ArgumentHelp("Metadata for programs.", valueName: "name=value"))
    var meta: [String] = []

    @Flag var stay: StayChoice?

    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let request = try request()
        let output = options.output
        if let note = NotifierStatus.wakeNote(for: request.metadata) { output.say(note) }
        let daemon = try DaemonEndpoint()
        let reply = try start(request, on: daemon)
        if let style = output.json { try output.print(json: JSONText.object(reply, style)) }
        let countdown = reply.countdown
        if stay != .attach {
            output.say("\(CountdownText.name(countdown)): started, \(CountdownText().remaining(countdown))")
        }
        guard let stay else { return .success }
        let watchOutput =
            stay == .attach ? try output.watchOutput(of: daemon, .one) : try WatchOutput(EndPrinter(output: output))
        var ends = WaitLoop([countdown.key], of: daemon, output: output, showing: watchOutput)
        return try ends.run(tick: stay == .wait ? 0 : nil)
    }

    /// The call for the arguments, with the key that it tries first.
    func request() throws(CommandFailure) -> Start {
        guard let text = words.first else {
            throw .usage("missing duration; for example `countdownctl timer 5m Green tea`")
        }
        let duration = try DurationParser.read(text)
        guard duration > 0 else { throw .usage("the duration must be at least 1us") }
        let label = words.dropFirst().joined(separator: " ")
        return Start(
            key: TimerKey.make(from: label) ?? TimerKey.make(of: duration),
            durationUSec: duration,
            ifRunning: .fail,
            label: label.isEmpty ? nil : label,
            metadata: try StartRequest.metadata(meta)
        )
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

/// The keys of timers, which are made for their users.
enum TimerKey {
    static let prefix = "timer/"
    /// The bytes of a label that get into the key, which leaves room for the prefix and a number.
    private static let limit = 200

    /// The key for a label: small letters, digits and everything beyond ASCII, with one hyphen in the place of other
    /// characters. Nil if the label has no such letter or digit.
    static func make(from label: String) -> String? {
        var words: [String] = [""]
        for character in PrintableText.replacing(label, { _ in " " }).lowercased() {
            if isKept(character) { words[words.count - 1].append(character) } else { words.append("") }
        }
        var name = ""
        for word in words where !word.isEmpty {
            for character in (name.isEmpty ? "" : "-") + word {
                guard name.utf8.count + character.utf8.count <= limit else { return prefix + name }
                name.append(character)
            }
        }
        return name.isEmpty ? nil : prefix + name
    }

    /// The key for a duration in microseconds.
    static func make(of duration: Int64) -> String { prefix + DurationFormat.render(duration) }

    private static func isKept(_ character: Character) -> Bool {
        guard let byte = character.asciiValue else { return !character.isWhitespace }
        return UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }
}
