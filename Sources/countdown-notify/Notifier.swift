import CLinux
import CSystemd
import Glibc
import IPC

/// The program as it runs: takes what comes from the daemon and the bus, and makes the calls that follow from it.
final class Notifier {
    /// A second, in microseconds: progress is updated no more often.
    private static let tick: Int64 = 1_000_000
    /// So long is waited in the end for whoever shows notifications, in microseconds.
    private static let patience: Int64 = 2_000_000

    let path: String
    let stateFile: StateFile
    private let signals: Int32
    let bus = BusConnection()
    let endings: Subscription
    let progress: Subscription?
    let reporter = StatusReporter()
    var queue: NotificationQueue
    var pendingStarts: [PendingStart] = []
    /// When whoever shows notifications is tried again; nil where nothing failed.
    var retry: Client.Deadline?
    /// What keeps endings from being told.
    var health = Health()

    /// - Parameters:
    ///   - options: what was typed.
    ///   - path: where the daemon's socket is.
    ///   - stateFile: what was told before.
    ///   - signals: a descriptor that is readable when the program is to end.
    init(_ options: NotifierOptions, at path: String, stateFile: StateFile, signals: Int32) {
        self.path = path
        self.stateFile = stateFile
        self.signals = signals
        var told: DeliveryState?
        do {
            told = try stateFile.read()
        } catch {
            reporter.log("\(error.sentence); what ended before now is not told")
        }
        queue = NotificationQueue(told: told)
        endings = Subscription(options.watch(tick: 0, since: told?.all), at: path)
        progress =
            options.showsProgress ? Subscription(options.watch(tick: Self.tick), at: path, resuming: false) : nil
    }

    /// Runs until it is told to end.
    ///
    /// - Throws: what keeps it from ever doing what it is for.
    func run() throws(Exit) {
        reporter.becomeReady()
        while linux_next_signal(signals) == 0 {
            try attendDaemon()
            attendPendingStarts()
            attendBus()
            // First, so that of what was told no more than one is told again, whenever this process is killed.
            writeState()
            sendCalls()
            reporter.report(health, of: queue)
            wait()
        }
        end()
    }

    private func wait() {
        var set = PollSet()
        set.add(signals)
        addBus(to: &set)
        for subscription in [endings, progress].compactMap(\.self) {
            if let descriptor = subscription.descriptor { set.add(descriptor) }
            if let deadline = subscription.deadline { set.add(deadline) }
        }
        for pending in pendingStarts { set.add(pending.descriptor) }
        if let retry { set.add(retry) }
        set.wait()
    }

    private func addBus(to set: inout PollSet) {
        if let (descriptor, events) = bus.readiness() { set.add(descriptor, for: events) }
        if let deadline = bus.deadline { set.add(deadline) }
    }

    /// Leaves nothing undone that is on its way, if that is answered soon.
    private func end() {
        reporter.stop()
        queue.end()
        let deadline = Client.Deadline.after(microseconds: Self.patience)
        while queue.isAwaiting, deadline.remainingUSec > 0 {
            var set = PollSet()
            addBus(to: &set)
            set.add(deadline)
            set.wait()
            attendBus()
        }
        writeState()
        queue.hideProgress()
        sendCalls()
        bus.flush()
    }
}

/// What the daemon tells, and is asked.
extension Notifier {
    func attendDaemon() throws(Exit) {
        for happening in try endings.attend() { take(happening) }
        for happening in try progress?.attend() ?? [] {
            switch happening {
            case .began, .lost, .gap: queue.hideProgress()
            case .told(let events, _): queue.show(events)
            }
        }
    }

    private func take(_ happening: Subscription.WatchEvent) {
        switch happening {
        case .began: queue.beginWatch()
        case .told(let events, let since):
            queue.take(events, since: since)
            reporter.change(&health.daemon, to: nil)
        case .lost(let error):
            queue.loseDaemon()
            reporter.change(&health.daemon, to: error.sentence)
        case .gap(let oldest):
            queue.noteGap(oldest)
            reporter.log("the daemon does not keep all that ended since it was told last")
        }
    }

    func attendPendingStarts() {
        pendingStarts.removeAll { pending in
            guard let outcome = pending.outcome() else { return false }
            if case .failure(let error) = outcome { queue.complain(pending.trouble(error)) }
            return true
        }
    }

    func carryOut(_ action: Action, of countdown: Countdown) {
        do {
            if let pending = try PendingStart(action, of: countdown, at: path) { pendingStarts.append(pending) }
        } catch {
            queue.complain(PendingStart.trouble(action, of: countdown, error))
        }
    }
}

/// What comes and goes over the bus, and what is remembered of it.
extension Notifier {
    func attendBus() {
        for happening in bus.attend() { take(happening) }
        guard let retry, retry.remainingUSec == 0 else { return }
        self.retry = nil
        queue.retry()
    }

    private func take(_ happening: BusConnection.BusEvent) {
        switch happening {
        case .answered(let purpose, let values): queue.take(values, to: purpose)
        case .heard(let signal):
            if let (action, countdown) = queue.take(signal) { carryOut(action, of: countdown) }
        case .unwritable(let purpose, let failure):
            reporter.log("a notification cannot be written: \(failure.call): \(systemMessage(failure.code))")
            queue.drop(purpose)
        case .lost(let failure):
            queue.loseBus()
            reporter.change(&health.bus, to: "no session bus: \(failure.sentence)")
        }
    }

    func sendCalls() {
        while bus.isOpen, let call = queue.next(Strings()) {
            if let happening = bus.send(call) { take(happening) }
        }
        let dropped = queue.takeDropped()
        if dropped > 0 { reporter.log("gave up on notifications that cannot be shown; dropped: \(dropped)") }
        guard bus.isOpen else { return }
        reporter.change(&health.bus, to: nil)
        switch queue.service {
        case .failed:
            reporter.change(&health.service, to: "nobody shows notifications")
            retry = retry ?? .after(microseconds: queue.pause)
        case .ready: reporter.change(&health.service, to: nil)
        case .unknown, .asked: break
        }
    }

    func writeState() {
        guard let told = queue.takeState() else { return }
        do {
            try stateFile.write(told)
            reporter.change(&health.stateFile, to: nil)
        } catch {
            queue.keepStateDue()
            reporter.change(&health.stateFile, to: "what is told cannot be remembered: \(systemMessage(error.code))")
        }
    }
}

extension BusFailure {
    /// What is said of it.
    var sentence: String {
        // What sd_bus_open_user(3) says where it has no address.
        guard code == ENOMEDIUM else { return systemMessage(code) }
        return "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR says where one is"
    }
}

/// What keeps endings from being told, or from being told once; each is a sentence, nil where all is well.
struct Health: Equatable {
    var daemon: String?
    var bus: String?
    var service: String?
    var stateFile: String?

    /// The first of them.
    var first: String? { daemon ?? bus ?? service ?? stateFile }
}

/// What systemd and the log are told.
final class StatusReporter {
    private var status = ""

    func becomeReady() { notify("READY=1") }

    func stop() { notify("STOPPING=1") }

    /// Says how it is, for `systemctl status`, where that is new. It names no key: those are often phone numbers.
    func report(_ health: Health, of queue: NotificationQueue) {
        let waiting = queue.backlog.waiting
        let activity = queue.isCatchingUp ? "hearing what happened before" : waiting == 0 ? "all is told" : "telling"
        let situation = health.first ?? activity
        let status = waiting == 0 ? situation : "\(situation); to be told: \(waiting)"
        guard status != self.status else { return }
        self.status = status
        notify("STATUS=\(status)")
    }

    /// Notes an obstacle, or that it is gone, and logs where that is news.
    func change(_ obstacle: inout String?, to sentence: String?) {
        guard obstacle != sentence else { return }
        if let sentence { log(sentence) } else if let obstacle { log("no longer: \(obstacle)") }
        obstacle = sentence
    }

    func log(_ sentence: String) { writeLine(sentence) }

    private func notify(_ state: String) { unsafe sd_notify(0, state) }
}

/// Writes a line to standard error; nothing is done about one that cannot be written.
func writeLine(_ sentence: String) {
    var line = "countdown-notify: \(sentence)\n"
    line.withUTF8 { unsafe _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
