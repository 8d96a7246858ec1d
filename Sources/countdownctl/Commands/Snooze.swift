import ArgumentParser
import IPC
import System
import Text

struct SnoozeCommand: Subcommand {
    /// The duration if neither the command line nor the file of defaults has one, in microseconds.
    private static let standard: Int64 = 300_000_000

    static var name: CommandName { .snooze }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Start the countdown again that finished last.",
        usage: "countdownctl snooze [KEY] [DURATION] [options]",
        discussion: """
            Examples:
              countdownctl snooze           five more minutes for the last one
              countdownctl snooze 10 min
              countdownctl snooze tea 10m

            Without KEY it is the timer that finished last, of those that the daemon keeps:
            cooldowns, and those of temporarily, are left out. The label and the metadata
            stay. A countdown that was cancelled is not started again.

            A line such as `snooze = 10m` in ~/.config/countdownd/config is the default
            duration.
            """
    )

    @Argument(
        help: ArgumentHelp("The key, and the duration. (default: 5m)", valueName: "[key] [duration]"),
        completion: KeyCompletion.any
    )
    var words: [String] = []

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp("The key, even if it looks like a duration.", valueName: "key")
    )
    var key: String?

    @OptionGroup var options: OutputOptions

    func check() throws(CommandFailure) { _ = try request() }

    func perform() throws -> ExitCode {
        let (word, typed) = try request()
        let duration = if let typed { typed } else { try standard() }
        let output = options.output
        var client = try DaemonEndpoint().connect()
        let reply: Start.Reply
        do {
            reply = try client.call(SnoozeMark.start(found(word, with: &client), for: duration, .fail))
        } catch let error as ClientError {
            let failure = CommandFailure(error)
            guard case .alreadyRunning(let countdown, _) = failure.refusal else { throw failure }
            throw CommandFailure(.tryLater, unchanged: countdown)
        }
        if output.json { try output.print(json: JSONText.object(reply)) }
        let text = CountdownText().remaining(reply.countdown)
        output.say("\(CountdownText.name(reply.countdown)): started again, \(text)")
        return .success
    }

    /// The key and the duration in microseconds, as far as they were typed.
    func request() throws(CommandFailure) -> (word: KeyWord?, duration: Int64?) {
        var rest = words[...]
        var word = key.map(KeyWord.key)
        if word == nil, let first = rest.first, !DurationParser.isMeant(by: first), !TypedTiming.isMeant(by: words) {
            word = KeyWord(typed: first)
            rest.removeFirst()
        }
        guard !rest.isEmpty else { return (word, nil) }
        let option = key == nil ? "" : "--key="
        let beginning = (["countdownctl snooze"] + [word.map { option + ShellWord.quote($0.text) }].compactMap(\.self))
            .joined(separator: " ")
        return (word, try TypedTiming.readLength(rest.joined(separator: " ")) { "`\(beginning) \($0)`" })
    }

    private func standard() throws(CommandFailure) -> Int64 {
        do throws(DefaultsFile.Invalid) {
            guard let setting = try DefaultsFile()[.snooze] else { return Self.standard }
            do throws(OptionParser.UsageError) {
                return try OptionParser.duration(setting.value, of: setting.name.rawValue)
            } catch {
                throw setting.invalid(error.sentence)
            }
        } catch {
            throw .usage(error.sentence)
        }
    }

    /// The finished countdown to start again.
    private func found(_ word: KeyWord?, with client: inout Client) throws -> Countdown {
        guard let word else {
            guard let last = try client.lastFinished() else {
                throw CommandFailure(.unknownKey, "no countdown has finished")
            }
            return last
        }
        let countdown =
            switch word {
            case .key(let key), .name(let key): try client.call(Get(key: key)).countdown
            case .reference(let reference): try client.find(reference)
            }
        guard countdown.state != .cancelled else { throw CommandFailure(.notRunning, unchanged: countdown) }
        return countdown
    }
}
