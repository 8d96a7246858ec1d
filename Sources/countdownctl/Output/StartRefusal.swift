import IPC
import System
import Varlink

/// A start that the daemon refused because of the countdown under the key.
struct StartRefusal {
    let countdown: Countdown
    /// When the same call succeeds, unless the countdown changes; nil if the countdown is paused or others queue for it.
    let retryAfterUSec: Int64?

    /// Nil if the failure has another reason.
    init?(_ failure: CommandFailure) {
        guard case .alreadyRunning(let countdown, let retryAfter) = failure.refusal else { return nil }
        self.countdown = countdown
        self.retryAfterUSec = retryAfter?.microseconds
    }

    /// `backup: again in 34 s`, for a start at a rate or without one.
    func sentence(of rate: Rate?) -> String {
        let name = CountdownText.name(countdown)
        if countdown.state == .paused {
            let resume = "countdownctl resume \(ShellWord.quote(countdown.key))"
            let delay = rate?.delay(countdown.remainingUSec) ?? countdown.remainingUSec
            return "\(name): paused; again \(Self.duration(delay)) after `\(resume)`"
        }
        guard let retryAfterUSec else { return "\(name): others are waiting for it" }
        return "\(name): again in \(Self.duration(retryAfterUSec))"
    }

    /// Seconds below a minute.
    static func duration(_ microseconds: Int64) -> String {
        let seconds = RemainingFormat.seconds(microseconds)
        return seconds < 60 ? "\(seconds) s" : RemainingFormat.render(microseconds)
    }
}

extension StartRefusal: JSONEncodable {
    /// Like the reply to a start, with the outcome `refused`.
    func encode(into writer: inout JSONWriter) {
        writer.member("outcome", "refused")
        writer.member("countdown", countdown)
        writer.memberIfPresent("retryAfterUSec", retryAfterUSec)
    }
}
