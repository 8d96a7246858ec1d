import ArgumentParser
import IPC

/// A verb that makes the same change to each of its keys.
protocol ChangeVerb: Verb {
    associatedtype Change: ChangeMethod

    var arguments: KeyArguments { get set }
    var condition: RevisionOption { get set }
    var options: OutputOptions { get set }

    /// What is said of a countdown that was changed, behind its name.
    func sentence(about countdown: Countdown, _ text: CountdownText) -> String

    /// The state of a countdown to which the change has been made already; nil where it has no such state.
    var stateAfterwards: State? { get }
}

extension ChangeVerb {
    var stateAfterwards: State? { nil }

    func perform() throws -> CommandStatus {
        let keys = try arguments.required(by: Self.configuration.commandName ?? "")
        guard condition.ifRevision == nil || keys.count == 1 else {
            throw Failure.usage("--if-revision is that of one countdown, and here are \(keys.count)")
        }
        var changes = Changes(verb: self, client: try Daemon().connect())
        for key in keys { try changes.make(key) }
        return try changes.end()
    }
}

/// The changes of one command: all are made, whatever becomes of one, and what is printed is printed in the end.
private struct Changes<V: ChangeVerb>: ~Copyable {
    let verb: V
    let output: Output
    var client: Client
    private var status = CommandStatus.success
    private var printed: [UInt8] = []

    init(verb: V, client: consuming Client) {
        self.verb = verb
        self.client = client
        output = verb.options.output
    }

    /// Changes one.
    ///
    /// - Throws: that the daemon is gone.
    mutating func make(_ key: String) throws {
        do {
            let countdown = try client.call(V.Change(key: key, ifRevision: verb.condition.ifRevision)).countdown
            take(countdown, verb.sentence(about: countdown, CountdownText()))
        } catch .countdown(let refusal) {
            take(refusal)
        } catch .service(let refusal) {
            take(Failure(refusal))
        } catch .callTooLong(let bytes) {
            // The daemon hangs up; the keys after this one need another connection.
            take(Failure(.callTooLong(bytes: bytes)))
            client = try Daemon().connect()
        } catch {
            try end()
            throw Failure(error)
        }
    }

    /// Prints what there is, and tells the worst code.
    @discardableResult
    mutating func end() throws -> CommandStatus {
        try StandardStream.output.write(printed)
        printed = []
        return status
    }

    private mutating func take(_ countdown: Countdown, _ clause: String) {
        if let style = output.json { printed += JSONText.object(countdown, style) + [UInt8(ascii: "\n")] }
        output.say("\(CountdownText.name(countdown)): \(clause)")
    }

    private mutating func take(_ refusal: CountdownError) {
        guard case .wrongState(let countdown) = refusal else { return take(Failure(refusal)) }
        let state = CountdownText().state(countdown)
        if countdown.state == verb.stateAfterwards {
            return take(countdown, "nothing changed, as it is already \(state)")
        }
        take(Failure(.notRunning, "\(CountdownText.name(countdown)): nothing changed, as it is \(state)"))
    }

    private mutating func take(_ failure: Failure) {
        status = max(status, failure.status)
        output.warn("countdownctl: \(failure.sentence)")
    }
}
