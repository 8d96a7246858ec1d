import IPC
import System

/// The notifications to show on the desktop, in their order, and how far they have been shown. It does no I/O: its owner
/// reports events and makes the call that `next` returns.
///
/// One notification is sent at a time. The next one is sent after the answer to the last, so the notification service sets
/// the pace, and an end counts as delivered once its notification has a number.
struct NotificationQueue {
    enum Purpose: Hashable {
        case capabilities
        case ends(EndNotification)
        case failure(Notification)
        /// A warning before the end of a countdown.
        case warning(key: String)
        case progress(key: String)
        /// The name of the notification service, or the services that the bus can start, for the owner of the queue.
        case server
        /// The answer does not matter.
        case none
    }

    /// A call that is to be made.
    struct Outgoing: Hashable {
        let purpose: Purpose
        let call: MethodCall
    }

    enum Service: Hashable {
        /// Nothing yet.
        case unknown
        /// It was asked for its capabilities.
        case asked
        case ready(Capabilities)
        /// It is missing, or it refused a call. It is tried again after a while.
        case failed
    }

    /// The most failures that wait; older ones are dropped.
    private static let maximumFailures = 8
    /// After this many attempts without a success a notification is dropped, so that one that the desktop always refuses,
    /// or that always ends it, cannot keep all later ones from being shown. With the pauses between them the attempts take
    /// about a minute and a half.
    private static let maximumAttempts = 10
    /// The most notifications with actions that can be chosen, far more than fit on a screen.
    private static let maximumActionable = 256

    private(set) var backlog = Backlog()
    private(set) var progress = ProgressNotifications()
    private var warnings = WarningNotifications()
    private var bell: Bell
    private var ages = ReportAges()
    private let rules: AnnouncementRules
    private(set) var service = Service.unknown
    /// Whether a call was sent that must be answered before the next one is sent.
    private(set) var isAwaiting = false
    /// Whether the daemon is still reporting the current state or earlier ends.
    private(set) var isCatchingUp = false
    /// The refusals since the last success.
    private var failures = 0
    /// How often the first notification of the queue was sent without being shown.
    private var attempts = 0
    /// How many notifications were dropped since `takeDropped` was called last.
    private var dropped = 0
    /// While the daemon reports its history after a trim: ends up to this revision were delivered before.
    private var floor: Int64?
    /// The revision at which the daemon's history begins, until the notice about the gap has been shown.
    private var oldest: Int64?
    /// The revision up to which everything has been received; nil before the first events.
    private var received: Int64?
    /// The revision up to which everything has been delivered while ends wait.
    private var delivered: Int64?
    /// The revision of the last end that was delivered, or the revision at which delivery began.
    private var lastEnd: Int64?
    private var lastRing: Int64?
    private var isStateUnsaved = false
    /// Whether nothing more is sent.
    private var isStopping = false
    private var failureNotifications: [Notification] = []
    /// The numbers of notifications that are to be closed.
    private var closings: [UInt32] = []
    /// The notifications with actions that may still be on the desktop.
    private var actionable: [(number: UInt32, ends: EndNotification)] = []

    /// Continues from the state that was saved; nil at the first start. An end has at most `maximumSounds`.
    init(delivered: DeliveryState?, rules: AnnouncementRules = AnnouncementRules(), maximumSounds: Int = 20) {
        self.rules = rules
        bell = Bell(rules, maximumSounds: maximumSounds, lastRing: delivered?.lastRing)
        lastRing = delivered?.lastRing
        received = delivered?.revision
        self.delivered = delivered?.revision
        lastEnd = delivered?.lastEnd
    }

    /// The revisions that have been delivered; nil before the first events.
    var state: DeliveryState? {
        guard let revision = backlog.isEmpty ? received : delivered, let lastEnd else { return nil }
        return DeliveryState(revision: revision, lastEnd: lastEnd, lastRing: lastRing ?? lastEnd)
    }

    /// The call that is to be made next; nil if no call is to be made now.
    mutating func next(_ strings: @autoclosure () -> Strings) -> Outgoing? {
        if case .ready = service, let number = closings.popLast() {
            return Outgoing(purpose: .none, call: Notification.close(number))
        }
        guard !isAwaiting, !isStopping else { return nil }
        if attempts >= Self.maximumAttempts, let first { drop(first) }
        guard first != nil || progress.hasNext else { return nil }
        switch service {
        case .asked, .failed: return nil
        case .unknown:
            service = .asked
            isAwaiting = true
            return Outgoing(purpose: .capabilities, call: MethodCall(.notifications, "GetCapabilities"))
        case .ready(let capabilities):
            guard let next = nextNotification(strings(), capabilities) else { return nil }
            isAwaiting = true
            return next
        }
    }

    /// The first of the failures, ends and warnings that wait.
    private var first: Purpose? {
        failureNotifications.first.map { .failure($0) } ?? (isCatchingUp ? nil : backlog.next.map { .ends($0) })
            ?? warnings.next.map { .warning(key: $0.key) }
    }

    private mutating func nextNotification(_ strings: Strings, _ capabilities: Capabilities) -> Outgoing? {
        guard let first else {
            return progress.next(strings).map { key, notification, number in
                Outgoing(
                    purpose: .progress(key: key),
                    call: notification.call(replacing: number, under: capabilities, strings)
                )
            }
        }
        attempts += 1
        switch first {
        case .failure(let notification):
            return Outgoing(purpose: first, call: notification.call(under: capabilities, strings))
        case .ends(let ends):
            return Outgoing(purpose: first, call: ends.notification(strings, rules).call(under: capabilities, strings))
        case .warning:
            return warnings.next.map { warning in
                Outgoing(
                    purpose: first,
                    call: warnings.notification(warning, strings).call(under: capabilities, strings)
                )
            }
        case .capabilities, .progress, .server, .none: return nil
        }
    }

    /// Takes a notification out of its queue that cannot be sent or shown. It counts as delivered.
    mutating func drop(_ purpose: Purpose) {
        isAwaiting = false
        switch purpose {
        case .ends(let ends): noteDelivered(ends, nil)
        case .failure(let notification): failureNotifications.removeAll { $0 == notification }
        case .warning(let key): warnings.shown(key, as: nil)
        case .progress(let key): progress.drop(key)
        case .capabilities, .server, .none: return
        }
        dropped += 1
        attempts = 0
    }

    /// How many notifications were dropped since this was called last.
    mutating func takeDropped() -> Int {
        defer { dropped = 0 }
        return dropped
    }

    /// Sends no more notifications, but closes those that should not stay.
    mutating func stop() {
        isStopping = true
        isStateUnsaved = true
    }

    /// Appends the warning before the end of a countdown.
    mutating func append(warning countdown: Countdown) { warnings.append(countdown) }

    /// Appends a notification that something failed.
    mutating func append(_ failure: Notification) {
        failureNotifications = failureNotifications.suffix(Self.maximumFailures - 1) + [failure]
    }

    /// The state, if it should be saved now.
    mutating func takeUnsavedState() -> DeliveryState? {
        guard isStateUnsaved else { return nil }
        isStateUnsaved = false
        return state
    }

    /// Notes that the state could not be saved, so that it is tried again.
    mutating func stateNotSaved() { isStateUnsaved = true }

    // MARK: The daemon

    /// Notes that a watch of ends begins, so that earlier ends come first.
    mutating func watchStarted() {
        isCatchingUp = true
        ages.watchWasLost()
    }

    mutating func daemonLost() { isCatchingUp = false }

    /// Takes events of the watch in their order, at instants of both clocks in microseconds, and the revision up to which everything
    /// has been received with them.
    mutating func receive(_ events: [Event], since: Int64?, wall: Int64, boot: Int64) {
        if backlog.isEmpty { delivered = received ?? delivered }
        for event in events {
            bell.receive(event)
            let age = ages.age(of: event, wall: wall, boot: boot)
            ages.receive(event, boot: boot)
            switch event.type {
            case .finished:
                guard let countdown = event.countdown, countdown.revision > floor ?? .min else { continue }
                backlog.append(countdown)
                let late = age.addingReportingOverflow(event.lateUSec ?? 0)
                guard bell.end(countdown, late: late.overflow ? .max : late.partialValue) else { continue }
                // It does not ring again after a restart.
                lastRing = countdown.revision
                isStateUnsaved = true
            case .synced:
                isCatchingUp = false
                floor = nil
                isStateUnsaved = true
            case .heartbeat: isStateUnsaved = true
            default: break
            }
        }
        received = since ?? received
        lastEnd = lastEnd ?? received
    }

    /// Notes that the daemon's history begins at the revision `oldest`.
    mutating func historyTrimmed(oldest: Int64) {
        floor = backlog.newestRevision ?? lastEnd
        self.oldest = oldest
        backlog.noteGap()
    }

    /// Takes events of running countdowns, for warnings and, if it is shown, progress.
    mutating func receiveRunning(_ events: [Event], showsProgress: Bool) {
        for event in events {
            if let number = warnings.receive(event) { closings.append(number) }
            if showsProgress, let number = progress.receive(event) { closings.append(number) }
        }
    }

    /// Closes all notifications of running countdowns.
    mutating func closeRunning() { closings += progress.clear() + warnings.clear() }

    // MARK: Sounds

    /// Whether the alarm is to be played. Until all ends have been reported nothing rings, as their keys may run again.
    var isRinging: Bool { bell.hasRings && !isCatchingUp }

    mutating func soundBegan() { bell.soundBegan() }

    /// Notes that the alarm was played to its end, or cannot be played.
    mutating func soundEnded(played: Bool) { if played { bell.played() } else { bell.silence() } }

    // MARK: The notification service

    /// Notes that the bus is gone, and with it every call that was not answered.
    mutating func busLost() { serviceChanged() }

    /// Takes the answer to a call; nil if the call was refused.
    mutating func handleAnswer(_ answer: [BusValue]?, to purpose: Purpose) {
        guard purpose != .none, purpose != .server else { return }
        isAwaiting = false
        if answer != nil, purpose != .capabilities {
            failures = 0
            attempts = 0
        }
        switch (purpose, answer) {
        case (.none, _), (.server, _): break
        case (.capabilities, let values?):
            guard case .strings(let names) = values.first else { return fail() }
            let capabilities = Capabilities(named: names)
            progress.hasBars = capabilities.hasNamedBars
            service = .ready(capabilities)
        case (.ends(let ends), let values?):
            if let number = values.number { bell.shown(ends, as: number) }
            noteDelivered(ends, values.number)
        case (.warning(let key), let values?):
            if let number = values.number, !warnings.shown(key, as: number) { closings.append(number) }
        case (.failure(let notification), _?): failureNotifications.removeAll { $0 == notification }
        case (.progress(let key), let values?):
            if let number = values.number, !progress.shown(key, as: number) { closings.append(number) }
        case (.progress(let key), nil):
            progress.refused(key)
            fail()
        case (_, nil): fail()
        }
    }

    /// Takes a signal. Returns the action that the user chose, and the countdown that it is for.
    mutating func handle(_ signal: DesktopSignal) -> (NotificationAction, Countdown)? {
        switch signal {
        case .serviceChanged: serviceChanged()
        case .closed(let number, let byUser):
            if byUser { bell.answered(number) }
            _ = removeActionable(number)
            warnings.closed(number)
            progress.closed(number)
        case .chosen(let action, let number):
            bell.answered(number)
            // Notifications of other programs have numbers and actions, too.
            let ends = removeActionable(number)
            guard ends != nil || warnings.closed(number) || progress.closed(number) else { return nil }
            closings.append(number)
            if case .one(let countdown) = ends { return (action, countdown) }
        }
        return nil
    }

    /// How long to wait before the notification service is tried again, in microseconds.
    var retryDelay: Int64 { Backoff.delay(before: failures) }

    mutating func retry() {
        if service == .failed { service = .unknown }
    }

    private mutating func noteDelivered(_ ends: EndNotification, _ number: UInt32?) {
        if let number, ends != .gap {
            actionable = actionable.suffix(Self.maximumActionable - 1) + [(number, ends)]
        }
        backlog.remove(ends)
        let revision = ends == .gap ? max(delivered ?? .min, oldest ?? .min) : ends.revision
        delivered = revision ?? delivered
        lastEnd = ends.revision ?? lastEnd
        isStateUnsaved = true
    }

    private mutating func removeActionable(_ number: UInt32) -> EndNotification? {
        guard let place = actionable.lastIndex(where: { $0.number == number }) else { return nil }
        return actionable.remove(at: place).ends
    }

    private mutating func fail() {
        failures += 1
        service = .failed
    }

    /// Another service, or none, shows notifications from now on: numbers of earlier notifications are invalid.
    private mutating func serviceChanged() {
        isAwaiting = false
        failures = 0
        service = .unknown
        actionable = []
        closings = []
        bell.forgetNumbers()
        progress.forgetNumbers()
        warnings.forgetNumbers()
    }
}

extension [BusValue] {
    /// The number of the notification that was made.
    var number: UInt32? {
        guard case .uint32(let number) = first else { return nil }
        return number
    }

    /// The name and the version in the answer to `GetServerInformation`.
    var serverName: String? {
        guard count > 2, case .string(let name) = self[0], case .string(let version) = self[2] else { return nil }
        return "\(name) \(version)"
    }
}
