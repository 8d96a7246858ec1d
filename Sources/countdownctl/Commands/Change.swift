import ArgumentParser
import IPC

/// a subcommand that makes the same change to each of its keys.
protocol ChangeCommand: Subcommand {
    associatedtype RequestedChange: ChangeMethod

    var arguments: KeyArguments { get set }
    var condition: RevisionOption { get set }
    var options: OutputOptions { get set }

    /// The clause for a changed countdown, after its name.
    func sentence(about countdown: Countdown, _ text: CountdownText) -> String

    /// The state that the change leads to; nil if there is none.
    var stateAfterwards: State? { get }
}

extension ChangeCommand {
    var stateAfterwards: State? { nil }

    func perform() throws -> ExitCode {
        let keys = try arguments.required(by: Self.configuration.commandName ?? "")
        guard condition.ifRevision == nil || keys.count == 1 else {
            throw CommandFailure.usage("--if-revision needs exactly one key, not \(keys.count)")
        }
        var changes = ChangeRun(command: self, client: try DaemonEndpoint().connect())
        for key in keys { try changes.make(key) }
        return try changes.end()
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

    /// Changes one.
    ///
    /// - Throws: that the daemon is gone.
    mutating func make(_ key: String) throws {
        do {
            let change = V.RequestedChange(key: key, ifRevision: command.condition.ifRevision)
            let countdown = try client.call(change).countdown
            record(countdown, command.sentence(about: countdown, CountdownText()))
        } catch .countdown(let refusal) {
            record(refusal, of: key)
        } catch .service(let refusal) {
            record(CommandFailure(refusal))
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
        if let style = output.json { printed += JSONText.object(countdown, style) + [UInt8(ascii: "\n")] }
        output.say("\(CountdownText.name(countdown)): \(clause)")
    }

    private mutating func record(_ refusal: CountdownError, of key: String) {
        guard case .wrongState(let countdown) = refusal else { return record(CommandFailure(refusal, about: key)) }
        let state = CountdownText().state(countdown)
        if countdown.state == command.stateAfterwards {
            return record(countdown, "nothing changed: it is already \(state)")
        }
        record(CommandFailure(.notRunning, "\(CountdownText.name(countdown)): nothing changed: it is \(state)"))
    }

    private mutating func record(_ failure: CommandFailure) {
        exitCode = max(exitCode, failure.exitCode)
        output.warn("countdownctl: \(failure.sentence)")
    }
}
