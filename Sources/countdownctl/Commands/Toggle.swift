import ArgumentParser
import IPC

struct ToggleCommand: ChangeCommand {
    static var name: CommandName { .toggle }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Pause countdowns that run, and resume countdowns that are paused.",
        usage: "countdownctl toggle KEY... [options]",
        discussion: """
            Examples:
              countdownctl toggle @next     for a click on a bar
              countdownctl toggle tea

            `toggle @next` resumes the countdown that was paused last. Only if none is
            paused, it pauses the one that ends first.
            """
    )

    @OptionGroup var arguments: KeyArguments
    @OptionGroup var condition: RevisionOption
    @OptionGroup var options: OutputOptions

    func find(_ reference: CountdownReference, with client: inout Client) throws(ClientError) -> Countdown {
        if reference == .next, let paused = try client.lastPaused() { return paused }
        return try client.find(reference)
    }

    func change(
        _ key: String,
        ifRevision revision: Int64?,
        with client: inout Client
    ) throws(ClientError) -> Countdown {
        let countdown = try client.call(Get(key: key)).countdown
        do {
            return try toggle(countdown, ifRevision: revision ?? countdown.revision, with: &client)
        } catch .countdown(.revisionMismatch(let now)) where revision == nil {
            return try toggle(now, ifRevision: now.revision, with: &client)
        }
    }

    /// An ended countdown is not changed: the daemon says so.
    private func toggle(
        _ countdown: Countdown,
        ifRevision revision: Int64,
        with client: inout Client
    ) throws(ClientError) -> Countdown {
        guard countdown.state == .paused else {
            return try client.call(Pause(key: countdown.key, ifRevision: revision)).countdown
        }
        return try client.call(Resume(key: countdown.key, ifRevision: revision)).countdown
    }

    func sentence(about countdown: Countdown, _ text: CountdownText) -> String {
        "\(countdown.state == .paused ? "paused" : "resumed"), \(text.remaining(countdown))"
    }
}
