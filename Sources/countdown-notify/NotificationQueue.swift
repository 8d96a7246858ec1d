import IPC
import System

/// The notifications to show on the desktop, in their order. It does no I/O: its owner reports events and makes the call that
/// `next` returns.
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

    var ends: Ends
    private(set) var progress = ProgressNotifications()
    private var warnings = WarningNotifications()
    private(set) var service = Service.unknown
    /// Whether a call was sent that must be answered before the next one is sent.
    private(set) var isAwaiting = false
    /// The refusals since the last success.
    private var failures = 0
    /// How often the first notification of the queue was sent without being shown.
    private var attempts = 0
    /// How many notifications were dropped since `takeDropped` was called last.
    private var dropped = 0
    /// Whether nothing more is sent.
    private var isStopping = false
    private var failureNotifications: [Notification] = []
    /// The numbers of notifications that are to be closed.
    private var closings: [UInt32] = []

    init(_ ends: Ends) { self.ends = ends }

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
        failureNotifications.first.map { .failure($0) } ?? ends.next.map { .ends($0) }
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
        let notification: Notification
        switch first {
        case .failure(let failure): notification = failure
        case .ends(let next): notification = next.notification(strings, ends.rules)
        default:
            guard let warning = warnings.next else { return nil }
            notification = warnings.notification(warning, strings)
        }
        return Outgoing(purpose: first, call: notification.call(under: capabilities, strings))
    }

    /// Takes a notification out of its queue that cannot be sent or shown. It counts as delivered.
    mutating func drop(_ purpose: Purpose) {
        isAwaiting = false
        switch purpose {
        case .ends(let notification): ends.shown(notification, as: nil)
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
        ends.keepUnsaved()
    }

    /// Appends the warning before the end of a countdown.
    mutating func append(warning countdown: Countdown) { warnings.append(countdown) }

    /// Appends a notification that something failed.
    mutating func append(_ failure: Notification) {
        failureNotifications = failureNotifications.suffix(Self.maximumFailures - 1) + [failure]
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

    // MARK: The notification service

    /// Notes that another service, or none, shows notifications from now on: numbers of earlier notifications are invalid, and calls
    /// without an answer are lost.
    mutating func serviceChanged() {
        isAwaiting = false
        failures = 0
        service = .unknown
        closings = []
        ends.forgetNumbers()
        progress.forgetNumbers()
        warnings.forgetNumbers()
    }

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
        case (.ends(let notification), let values?): ends.shown(notification, as: values.number)
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
            ends.closed(number, byUser: byUser)
            warnings.closed(number)
            progress.closed(number)
        case .chosen(let action, let number):
            // Notifications of other programs have numbers and actions, too.
            let answered = ends.answered(number)
            guard !answered.isEmpty || warnings.closed(number) || progress.closed(number) else { return nil }
            closings.append(number)
            if let countdown = answered.first, answered.count == 1 { return (action, countdown) }
        }
        return nil
    }

    /// How long to wait before the notification service is tried again, in microseconds.
    var retryDelay: Int64 { Backoff.delay(before: failures) }

    mutating func retry() {
        if service == .failed { service = .unknown }
    }

    private mutating func fail() {
        failures += 1
        service = .failed
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
