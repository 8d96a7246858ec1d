import ArgumentParser
import IPC
import Text
import Varlink

/// A subcommand that makes the same change to each of its keys.
protocol ChangeCommand: Subcommand {
    var arguments: KeyArguments { get set }
    var condition: RevisionOption { get set }
    var options: OutputOptions { get set }

    /// Looks up the countdown that a word stands for.
    func find(_ reference: CountdownReference, with client: inout Client) throws(ClientError) -> Countdown

    /// Changes the countdown under a key, if it has that revision.
    func change(_ key: String, ifRevision: Int64?, with client: inout Client) throws(ClientError) -> Countdown

    /// The clause for a changed countdown, after its name.
    func sentence(about countdown: Countdown, _ text: CountdownText) -> String

    /// The state that the change leads to; nil if it does not change the state.
    var stateAfterwards: Countdown.State? { get }
}

extension ChangeCommand {
    var stateAfterwards: Countdown.State? { nil }

    func find(_ reference: CountdownReference, with client: inout Client) throws(ClientError) -> Countdown {
        try client.find(reference)
    }

    func perform() throws -> ExitCode {
        let words = try arguments.required(by: Self.name.rawValue)
        try condition.check(words)
        var changes = ChangeRun(command: self, client: try DaemonEndpoint().connect())
        for word in try changes.joined(words) { try changes.make(word) }
        return try changes.end()
    }
}

/// A subcommand whose change is one call.
protocol OneCallCommand: ChangeCommand {
    associatedtype Call: ChangeMethod
}

extension OneCallCommand {
    func change(_ key: String, ifRevision: Int64?, with client: inout Client) throws(ClientError) -> Countdown {
        try client.call(Call(key: key, ifRevision: ifRevision)).countdown
    }
}

/// The changes of one command: a failure does not stop the others, and the output is printed at the end.
private struct ChangeRun<V: ChangeCommand>: ~Copyable {
    let command: V
    let output: Output
    var client: Client
    private var exitCode = ExitCode.success
    private var printed: [UInt8] = []

    init(command: V, client: consuming Client) {
        self.command = command
        self.client = client
        output = command.options.output
    }

    /// Joins the words if together they are the label of a timer. If one of them is the key of a countdown as well,
    /// that is a usage error.
    mutating func joined(_ words: [KeyWord]) throws(CommandFailure) -> [KeyWord] {
        let names = words.compactMap { word in if case .name(let name) = word { name } else { nil } }
        guard names.count > 1, names.count == words.count else { return words }
        let label = names.joined(separator: " ")
        let key: String?
        do throws(ClientError) {
            guard try !client.timers(called: label).isEmpty else { return words }
            key = try client.list(List(states: [.running, .paused], keys: names)).first?.key
        } catch {
            throw CommandFailure(error, isRead: true)
        }
        guard let key else { return [.name(label)] }
        throw .usage("\(quoted(label)) is a timer, and \(quoted(key)) is a key: quote the label, or use --key")
    }

    /// Changes one; throws if the daemon is gone.
    mutating func make(_ word: KeyWord) throws {
        do {
            let countdown = try client.change(
                word,
                ifRevision: command.condition.ifRevision,
                found: { client, reference throws(ClientError) in try command.find(reference, with: &client) },
                { client, key, revision throws(ClientError) in
                    try command.change(key, ifRevision: revision, with: &client)
                }
            )
            record(countdown, command.sentence(about: countdown, CountdownText()))
        } catch .countdown(.noSuchCountdown(let name)) {
            record(CommandFailure(unknown: name, among: (try? client.timers(called: name)) ?? []))
        } catch .countdown(let refusal) {
            record(refusal, of: word.text)
        } catch .service(let refusal) {
            record(CommandFailure(refusal, about: word.text))
        } catch .callTooLong(let bytes) {
            // The daemon hangs up; the keys after this one need another connection.
            record(CommandFailure(.callTooLong(bytes: bytes)))
            client = try DaemonEndpoint().connect()
        } catch {
            try end()
            throw CommandFailure(error)
        }
    }

    /// Prints the output and returns the highest exit code.
    @discardableResult
    mutating func end() throws -> ExitCode {
        try StandardStream.output.write(printed)
        printed = []
        return exitCode
    }

    private mutating func record(_ countdown: Countdown, _ clause: String) {
        if output.json { printed += JSONText.object(countdown) + [UInt8(ascii: "\n")] }
        output.say("\(CountdownText.name(countdown)): \(clause)")
    }

    private mutating func record(_ refusal: CountdownError, of key: String) {
        guard case .wrongState(let countdown) = refusal else { return record(CommandFailure(refusal, about: key)) }
        if countdown.state == command.stateAfterwards {
            return record(countdown, "nothing changed: it is already \(CountdownText().state(countdown))")
        }
        record(CommandFailure(.notRunning, unchanged: countdown))
    }

    private mutating func record(_ failure: CommandFailure) {
        exitCode = max(exitCode, failure.exitCode)
        output.warn("countdownctl: \(failure.sentence)")
    }
}
