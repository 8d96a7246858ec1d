import IPC
import System
import Text
import Varlink

/// The value of `--queue-timeout`: how long `start --queue` and `run --wait` wait for their turn.
enum QueueTimeout {
    /// Checks the value, and that the option is there which queues.
    static func check(_ text: String?, needing option: String, _ queues: Bool) throws(CommandFailure) {
        guard try read(text) == nil || queues else { throw .usage("--queue-timeout needs \(option)") }
    }

    /// The timeout in microseconds; nil for none.
    static func read(_ text: String?) throws(CommandFailure) -> Int64? {
        guard let text else { return nil }
        let timeout = try DurationParser.read(text)
        guard timeout > 0 else { throw .usage("the timeout must be at least 1us") }
        return timeout
    }

    /// That the timeout has passed.
    static func sentence(about key: String, _ timeout: String?) -> String {
        "\(PrintableText.escape(key)): its turn did not come within \(timeout ?? "")"
    }
}

extension DaemonEndpoint {
    /// Makes a start with `ifRunning: wait`, and waits for its turn, at most for the timeout in microseconds. If the
    /// daemon is restarted, it queues again, unless a countdown with the token of its metadata runs: then only the
    /// reply was lost.
    func queue(_ start: Start, timeout: Int64?, output: Output) throws(CommandFailure) -> AwaitedReply<Start.Reply> {
        let deadline = timeout.map(MonotonicDeadline.after)
        let interruption = try Interruption()
        var client = try connect()
        var attempts = 0
        while true {
            do {
                if attempts > 0, let token = start.metadata?[CooldownMark.token],
                    let own = try own(start.key, token, &client, until: deadline, unless: interruption)
                {
                    return own
                }
                return try client.call(start, until: deadline, unless: interruption)
            } catch {
                guard error.exitCode == .unavailable else { throw error }
            }
            if attempts == 0 { output.say(EventStream.lostSentence) }
            repeat {
                attempts += 1
                let pause = MonotonicDeadline.after(microseconds: Backoff.delay(before: attempts))
                if interruption.wait(until: min(pause, deadline ?? pause)) == .interrupted { return .interrupted }
                if deadline?.hasPassed == true { return .timedOut }
            } while try !reconnect(&client)
        }
    }

    /// The countdown under a key as the reply to its start, if it has the token and has not ended; nil if not.
    private func own(
        _ key: String,
        _ token: String,
        _ client: inout Client,
        until deadline: MonotonicDeadline?,
        unless interruption: any Waiter
    ) throws(CommandFailure) -> AwaitedReply<Start.Reply>? {
        do {
            switch try client.call(Get(key: key), until: deadline, unless: interruption) {
            case .received(let reply):
                let countdown = reply.countdown
                guard countdown.metadata?[CooldownMark.token] == token, countdown.hasNotEnded else { return nil }
                return .received(Start.Reply(outcome: .started, countdown: countdown))
            case .timedOut: return .timedOut
            case .interrupted: return .interrupted
            }
        } catch {
            guard error.exitCode == .unknownKey else { throw error }
            return nil
        }
    }

    /// False if the daemon is still away.
    private func reconnect(_ client: inout Client) throws(CommandFailure) -> Bool {
        do {
            client = try connect()
            return true
        } catch {
            guard error.exitCode == .unavailable else { throw error }
            return false
        }
    }
}
