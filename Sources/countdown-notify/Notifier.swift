import CSystemd
import Glibc
import IPC
import System

/// The running program: it receives events from the daemon and messages from the session bus, and makes the calls that
/// follow from them. It owns all state; the queue decides.
final class Notifier {
    /// Progress is updated at most once a second.
    private static let tickUSec: Int64 = 1_000_000
    /// How long the program waits for the notification service when it ends.
    private static let shutdownTimeoutUSec: Int64 = 2_000_000

    private let path: String
    private var stateFile: StateFile
    private let signals: SignalDescriptor
    private let bus = BusConnection()
    private let watch: WatchConnection
    private let options: NotifierOptions
    private let player: SoundPlayer
    /// For warnings.
    private let timer: BootTimer
    /// Wakes the machine; nil if it is not to be woken, or cannot be.
    private var wakeTimer: BootTimer?
    private let translations = Translations.installed
    private var hadBus = false
    /// Whether the notification service was asked for its name.
    private var isServerAsked = false
    private var isStopping = false
    private var queue: NotificationQueue
    private var countdowns: RunningCountdowns
    private var pendingStarts: [PendingStart] = []
    /// When to try the notification service again; nil unless it failed.
    private var retry: MonotonicDeadline?
    private var condition = Condition()

    /// Makes a notifier for the daemon at `path`. The signals are those that end the program, and SIGCHLD.
    init(
        _ options: NotifierOptions,
        at path: String,
        stateFile: consuming StateFile,
        signals: consuming SignalDescriptor,
        timer: consuming BootTimer
    ) {
        self.path = path
        self.timer = timer
        self.options = options
        player = SoundPlayer(alarm: options.sound)
        countdowns = RunningCountdowns(options.rules)
        var delivered: DeliveryState?
        do {
            delivered = try stateFile.read()
        } catch {
            writeLine("\(error.sentence); ends before now are not shown")
        }
        self.stateFile = stateFile
        self.signals = signals
        queue = NotificationQueue(
            Ends(delivered: delivered, rules: options.rules, maximumSounds: options.maximumSounds)
        )
        var watchOptions = ResumableWatch.FailureOptions()
        watchOptions.waitsForDaemon = true
        watchOptions.trimmedHistory = .resumeFromOldest
        watchOptions.reportsAll = true
        let tick = options.showsProgress ? Self.tickUSec : 0
        let call = options.selection.watch(tick: tick, since: delivered?.revision)
        watch = WatchConnection(ResumableWatch(call, options: watchOptions), at: path)
        if options.rules.ring != .no, let shortage = player.shortage(of: .alarm) {
            condition.sound.report("no sound: \(shortage)")
        }
        guard options.wakes else { return }
        do {
            wakeTimer = try BootTimer(wakes: true)
        } catch {
            let reason = error.code == EPERM ? "the capability CAP_WAKE_ALARM is missing" : "\(error)"
            writeLine("--wake has no effect: \(reason); see countdown-notify(1)")
        }
    }

    /// The words of notifications that are made now.
    private var strings: Strings { Strings(snoozeUSec: options.rules.snoozeUSec, translations: translations) }

    /// Runs until SIGTERM or SIGINT, or if the options say so, until the session bus ends.
    ///
    /// - Throws: an error of the daemon that would be the same at every attempt.
    func run() throws(Exit) {
        unsafe sd_notify(0, "READY=1")
        while !signals.hasStop, !isStopping {
            try advanceWatch()
            advanceWarnings()
            receiveAnswers()
            advanceBus()
            // Before the next calls: if the process is killed, at most one notification is shown again.
            saveState()
            sendCalls()
            advanceSounds()
            condition.reportStatus(of: queue.ends)
            reportState()
            wait()
        }
        shutDown()
    }

    private func wait() {
        var set = PollSet()
        set.add(signals.descriptor)
        addBus(to: &set)
        set.add(timer.descriptor)
        if let descriptor = wakeTimer?.descriptor { set.add(descriptor) }
        set.add(player.deadline)
        if let descriptor = watch.descriptor { set.add(descriptor, for: watch.pollEvents) }
        set.add(watch.deadline)
        for pending in pendingStarts { set.add(pending.descriptor) }
        set.add(retry)
        set.wait()
    }

    private func addBus(to set: inout PollSet) {
        if let (descriptor, events) = bus.readiness() { set.add(descriptor, for: events) }
        set.add(bus.deadline)
    }

    /// Waits a moment for calls that were sent, saves the state and closes notifications of progress.
    private func shutDown() {
        unsafe sd_notify(0, "STOPPING=1")
        player.stop()
        queue.stop()
        let deadline = MonotonicDeadline.after(microseconds: Self.shutdownTimeoutUSec)
        while queue.isAwaiting, !deadline.hasPassed { waitForBus(until: deadline) }
        saveState()
        queue.closeRunning()
        sendCalls()
        while bus.hasUnsent, !deadline.hasPassed { waitForBus(until: deadline) }
    }

    private func waitForBus(until deadline: MonotonicDeadline) {
        var set = PollSet()
        addBus(to: &set)
        set.add(deadline)
        set.wait()
        advanceBus()
    }

    // MARK: The daemon

    private func advanceWatch() throws(Exit) {
        do {
            for event in try watch.advance() { handle(event) }
            // It is the revision after all of these events, so it counts when every end among them is in the queue.
            queue.ends.receive([], since: watch.since, wall: WallClock.now, boot: BootClock.now)
        } catch {
            throw Exit(error)
        }
    }

    private func handle(_ event: WatchEvent) {
        switch event {
        case .started: queue.ends.watchStarted()
        case .events(let events):
            queue.ends.receive(events, since: nil, wall: WallClock.now, boot: BootClock.now)
            receiveRunning(events)
            condition.daemon.clear()
        case .current(let current):
            queue.closeRunning()
            countdowns.clear()
            receiveRunning(
                current.map { Event(type: .attached, key: $0.key, remainingUSec: $0.remainingUSec, countdown: $0) }
            )
        case .lost(let error), .stillLost(let error):
            queue.ends.daemonLost()
            // Countdowns still warn and wake the machine while the daemon restarts.
            queue.closeRunning()
            condition.daemon.report("\(error)")
        case .historyTrimmed(let oldest):
            queue.ends.historyTrimmed(oldest: oldest)
            writeLine("the daemon no longer keeps all ends since the last one that was shown")
        case .recovered, .forgotten: break
        }
    }

    /// Takes the events for progress, warnings and waking.
    private func receiveRunning(_ events: [Event]) {
        queue.receiveRunning(events, showsProgress: options.showsProgress)
        let (boot, wall) = (BootClock.now, WallClock.now)
        for event in events {
            countdowns.receive(event, boot: boot, wall: wall) { condition.reportMetadata($0) }
        }
        if wakeTimer == nil, countdowns.nextWake != nil {
            condition.reportMetadata("metadata wake=yes has no effect without --wake; see countdown-notify(1)")
        }
    }

    private func receiveAnswers() {
        pendingStarts.removeAll { pending in
            guard let result = pending.result() else { return false }
            if case .failure(let error) = result { report(error, of: pending.action, on: pending.countdown) }
            return true
        }
    }

    private func perform(_ action: NotificationAction, on countdown: Countdown) {
        do {
            if let pending = try PendingStart(action, of: countdown, options.rules, at: path) {
                pendingStarts.append(pending)
            }
        } catch {
            report(error, of: action, on: countdown)
        }
    }

    private func report(_ error: ClientError, of action: NotificationAction, on countdown: Countdown) {
        queue.append(PendingStart.failureNotification(action, of: countdown, error, strings))
    }

    // MARK: Sounds, warnings and waking

    private func advanceWarnings() {
        let boot = BootClock.now
        for countdown in countdowns.takeWarnings(boot: boot) {
            queue.append(warning: countdown)
            if options.rules.announcement(of: countdown).ring != .no, !queue.ends.isRinging, !player.isPlaying {
                player.begin(.warning)
            }
        }
        timer.set(countdowns.nextWarning)
        countdowns.woken(boot: boot)
        wakeTimer?.set(countdowns.nextWake)
    }

    private func advanceSounds() {
        switch player.advance() {
        case .played(let sound):
            condition.sound.clear()
            if sound == .alarm { queue.ends.soundPlayed() }
        case .failed(let sound, let reason):
            condition.sound.report("no sound: \(reason)")
            // If the sound of a warning fails, the ends that ring meanwhile may still be heard.
            if sound == .alarm { queue.ends.soundFailed() }
        case nil: break
        }
        if !queue.ends.isRinging {
            player.stopAlarm()
        } else if player.isReady {
            player.begin(.alarm)
            queue.ends.soundBegan()
        }
    }

    // MARK: The session bus and the state file

    private func advanceBus() {
        for event in bus.advance() { handle(event) }
        guard let retry, retry.hasPassed else { return }
        self.retry = nil
        queue.retry()
    }

    private func handle(_ event: BusEvent) {
        switch event {
        case .answered(.server, let values):
            if case .strings(let names)? = values?.first {
                condition.isServiceStartable = names.contains(MethodCall.BusObject.notifications.name)
            } else {
                condition.server = values?.serverName
            }
        case .answered(let purpose, let values):
            queue.handleAnswer(values, to: purpose)
        case .signal(let signal):
            if signal == .serviceChanged { (condition.server, isServerAsked) = (nil, false) }
            if let (action, countdown) = queue.handle(signal) { perform(action, on: countdown) }
        case .unwritable(let purpose, let failure):
            writeLine("a notification cannot be written: \(failure)")
            queue.drop(purpose)
        case .lost(let failure):
            (condition.server, isServerAsked) = (nil, false)
            queue.serviceChanged()
            isStopping = options.endsWithBus && hadBus
            condition.bus.report("no session bus: \(failure.explanation)")
        }
    }

    private func sendCalls() {
        if bus.isOpen, !isServerAsked {
            isServerAsked = true
            // At a login, a service that the bus starts could take the place of the desktop's own.
            var call = MethodCall(.notifications, "GetServerInformation")
            call.startsService = false
            for call in [call, MethodCall(.bus, "ListActivatableNames")] {
                if let event = bus.send(NotificationQueue.Outgoing(purpose: .server, call: call)) { handle(event) }
            }
        }
        while bus.isOpen, let call = queue.next(strings) {
            if let event = bus.send(call) { handle(event) }
        }
        let dropped = queue.takeDropped()
        if dropped > 0 { writeLine("gave up on notifications that cannot be shown; dropped: \(dropped)") }
        guard bus.isOpen else { return }
        condition.bus.clear()
        hadBus = true
        switch queue.service {
        case .failed:
            condition.service.report("no notification service")
            retry = retry ?? .after(microseconds: queue.retryDelay)
        case .ready: condition.service.clear()
        case .unknown, .asked: break
        }
    }

    /// Reports to other programs where ends are shown, and whether they ring.
    private func reportState() {
        do {
            try stateFile.report(condition.report(rings: options.rules.ring != .no), wakes: wakeTimer != nil)
        } catch {
            condition.stateFile.report("the state cannot be saved: \(error)")
        }
    }

    private func saveState() {
        guard let state = queue.ends.takeUnsavedState() else { return }
        do {
            try stateFile.write(state)
            condition.stateFile.clear()
        } catch {
            queue.ends.keepUnsaved()
            condition.stateFile.report("the state cannot be saved: \(error)")
        }
    }
}

extension SignalDescriptor {
    /// Whether one of the signals has arrived that end the program; SIGCHLD only ends a wait.
    var hasStop: Bool {
        while let signal = next() {
            if signal != SIGCHLD { return true }
        }
        return false
    }
}
