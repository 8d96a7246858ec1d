import Glibc
import IPC
import System
import Text

/// The run of `--test`: shows a notification and plays the alarm once, as at an end, and prints each missing part.
final class Rehearsal {
    /// One line of the result: the program or file by which it works, or why it fails.
    private typealias Outcome = (works: Bool, text: String)

    /// The longest wait for the notification service and for the end of the sound.
    private static let timeoutUSec: Int64 = 30_000_000

    private let rings: Bool
    private let signals: SignalDescriptor
    private let bus = BusConnection()
    private let player: SoundPlayer
    private let strings: Strings
    private var server = "an unnamed service"
    /// Nil until it is known.
    private var notification: Outcome?
    private var sound: Outcome?

    /// The signals are those that end the program, and SIGCHLD.
    init(_ options: NotifierOptions, signals: consuming SignalDescriptor) {
        rings = options.rules.ring != .no
        player = SoundPlayer(alarm: options.sound)
        strings = Strings(translations: Translations.installed)
        self.signals = signals
    }

    /// Runs until the notification is shown and the sound has ended, and returns the exit code. `path` is of the
    /// daemon's socket.
    func run(at path: String) -> Int32 {
        let shortage = rings ? player.shortage(of: .alarm) : "ring is no"
        if let shortage { sound = (false, shortage) } else { player.begin(.alarm) }
        for event in bus.advance() { handle(event) }
        askService()
        let deadline = MonotonicDeadline.after(microseconds: Self.timeoutUSec)
        while notification == nil || sound == nil, !deadline.hasPassed, !signals.hasStop {
            for event in bus.advance() { handle(event) }
            advanceSound()
            wait(until: deadline)
        }
        player.stop()
        let works = [
            report("notification", notification ?? (false, "no answer from the notification service")),
            report("sound", sound ?? (false, "\(player.programName) does not end")),
            report("daemon", daemon(at: path)),
        ]
        print("     service: \(NotifierStatus().sentence)")
        return works.contains(false) ? EX_UNAVAILABLE : EX_OK
    }

    private func report(_ name: String, _ outcome: Outcome) -> Bool {
        let label = String(repeating: " ", count: 12 - name.utf8.count) + name
        print("\(label): \(outcome.works ? "" : "failed: ")\(PrintableText.escape(outcome.text))")
        return outcome.works
    }

    private func wait(until deadline: MonotonicDeadline) {
        guard notification == nil || sound == nil else { return }
        var set = PollSet()
        set.add(signals.descriptor)
        if notification == nil {
            if let (descriptor, events) = bus.readiness() { set.add(descriptor, for: events) }
            set.add(bus.deadline)
        }
        if sound == nil { set.add(player.deadline) }
        set.add(deadline)
        set.wait()
    }

    // MARK: The notification

    private func askService() {
        send(.server, MethodCall(.notifications, "GetServerInformation"))
        send(.capabilities, MethodCall(.notifications, "GetCapabilities"))
    }

    private func send(_ purpose: NotificationQueue.Purpose, _ call: MethodCall) {
        if let event = bus.send(NotificationQueue.Outgoing(purpose: purpose, call: call)) { handle(event) }
    }

    private func handle(_ event: BusEvent) {
        switch event {
        case .answered(.server, let values): server = values?.serverName ?? server
        case .answered(.capabilities, .some(let values)):
            guard case .strings(let names) = values.first else { return }
            var shown = Notification(
                category: .ended,
                summary: strings.text(.countdowns),
                body: strings.text(.rehearsal)
            )
            shown.ring = rings ? .once : .no
            send(.failure(shown), shown.call(under: Capabilities(named: names), strings))
        case .answered(.failure, .some): notification = (true, server)
        case .answered: notification = (false, "no notification service; install one such as dunst or mako")
        case .unwritable(_, let failure): notification = (false, "\(failure)")
        case .lost(let failure): notification = notification ?? (false, "no session bus: \(failure.explanation)")
        // The bus has started the service; answers to earlier calls are lost.
        case .signal(.serviceChanged): if notification == nil { askService() }
        case .signal: break
        }
    }

    // MARK: The sound and the daemon

    private func advanceSound() {
        switch player.advance() {
        case .played: sound = (true, player.programName)
        case .failed(_, let reason): sound = (false, reason)
        case nil: break
        }
    }

    private func daemon(at path: String) -> Outcome {
        do {
            _ = try Client(at: path)
            return (true, path)
        } catch {
            return (false, "\(error)")
        }
    }
}
