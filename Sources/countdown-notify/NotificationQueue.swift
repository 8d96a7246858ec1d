import IPC

/// What is told to the person at the desktop: it is handed what happens, and says which call is to be made next.
///
/// One notification is on its way at a time. The next is sent once it has been answered, so whoever shows them sets the
/// pace, and an ending counts as told once its notification has a number.
struct NotificationQueue {
    /// What a call was made for.
    enum Purpose: Hashable {
        case capabilities
        case ends(EndNotification)
        case trouble(Notification)
        case progress(key: String)
        /// Nobody waits for its answer.
        case none
    }

    /// A call that is to be made.
    struct Outgoing: Hashable {
        let purpose: Purpose
        let call: MethodCall
    }

    /// What is known of whoever shows notifications.
    enum Service: Hashable {
        /// Whether there is somebody will be seen.
        case unknown
        case asked
        case ready(Capabilities)
        /// Nobody is there, or could not do it; to be tried again after a while.
        case failed
    }

    /// So many troubles wait at most; of those that are older nobody wants to know.
    private static let troubles = 8
    /// After so many attempts without a success a notification is dropped, so that one that the desktop always refuses,
    /// or that always ends it, cannot keep all later ones from being shown. With the pauses between them the attempts
    /// take about a minute and a half.
    private static let maximumAttempts = 10
    /// So many notifications can have their actions chosen: far more than fit on a screen.
    private static let choosable = 256

    var backlog = Backlog()
    var board = ProgressNotifications()
    var service = Service.unknown
    /// How often it failed in a row.
    var failures = 0
    /// How often the first notification of the queue was sent without being shown.
    private var attempts = 0
    /// How many notifications were dropped since `takeDropped` was called last.
    private var dropped = 0
    /// Whether something was sent whose answer has to be there before the next is.
    var isAwaiting = false
    /// Whether the daemon is still telling what happened before.
    var isCatchingUp = false
    /// Endings up to it were told before, while the daemon tells what it has after its history was trimmed.
    var floor: Int64?
    /// Where what the daemon has begins, until it was told that there is nothing before.
    var oldest: Int64?
    /// The revision up to which all has been received; nil where nothing has ever been told.
    var seen: Int64?
    /// The last revision that was told with all before it, while something waits.
    var delivered: Int64?
    /// That of the last ending that was told, or where telling began.
    var lastEnding: Int64?
    /// Whether the record should be written.
    var isStateDue = false
    /// Whether nothing more is begun.
    private var isEnding = false
    private var troubles: [Notification] = []
    private var closings: [UInt32] = []
    private var choices: [(number: UInt32, ends: EndNotification)] = []

    /// - Parameter told: what was told before; nil where nothing ever was.
    init(told: DeliveryState?) {
        seen = told?.all
        delivered = told?.all
        lastEnding = told?.ending
    }

    /// What has been told; nil where nothing ever was.
    var told: DeliveryState? {
        guard let all = backlog.isEmpty ? seen : delivered, let lastEnding else { return nil }
        return DeliveryState(all: all, ending: lastEnding)
    }

    /// The call that is to be made next; nil where there is none for now.
    mutating func next(_ strings: @autoclosure () -> Strings) -> Outgoing? {
        if case .ready = service, let number = closings.popLast() {
            return Outgoing(purpose: .none, call: Notification.close(number))
        }
        guard !isAwaiting, !isEnding else { return nil }
        if attempts >= Self.maximumAttempts { dropFirst() }
        guard hasSomething else { return nil }
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

    private var hasSomething: Bool { !troubles.isEmpty || (!isCatchingUp && !backlog.isEmpty) || board.hasNext }

    private mutating func nextNotification(_ strings: Strings, _ capabilities: Capabilities) -> Outgoing? {
        if let trouble = troubles.first {
            attempts += 1
            return Outgoing(purpose: .trouble(trouble), call: trouble.call(under: capabilities))
        }
        if !isCatchingUp, let ends = backlog.next {
            attempts += 1
            let call = ends.notification(strings).call(under: capabilities)
            return Outgoing(purpose: .ends(ends), call: call)
        }
        return board.next(strings).map { key, notification, number in
            Outgoing(purpose: .progress(key: key), call: notification.call(replacing: number, under: capabilities))
        }
    }

    /// Takes the first notification out of the queue as if it had been shown.
    private mutating func dropFirst() {
        if let trouble = troubles.first {
            drop(.trouble(trouble))
        } else if !isCatchingUp, let ends = backlog.next {
            drop(.ends(ends))
        }
    }

    /// Takes a notification out of its queue that cannot be sent; it counts as shown.
    mutating func drop(_ purpose: Purpose) {
        isAwaiting = false
        switch purpose {
        case .ends(let ends): note(ends, nil)
        case .trouble(let trouble): settle(trouble)
        case .progress(let key): board.drop(key)
        case .capabilities, .none: return
        }
        dropped += 1
        attempts = 0
    }

    /// How many notifications were dropped since this was called last.
    mutating func takeDropped() -> Int {
        defer { dropped = 0 }
        return dropped
    }

    /// Notes that a notification was shown.
    mutating func succeed() {
        failures = 0
        attempts = 0
    }

    /// Begins nothing more, but takes away what is not to stay.
    mutating func end() {
        isEnding = true
        isStateDue = true
    }

    /// Has it told that something could not be done.
    mutating func complain(_ trouble: Notification) {
        troubles = troubles.suffix(Self.troubles - 1) + [trouble]
    }

    /// Takes a trouble out that was told.
    mutating func settle(_ trouble: Notification) { troubles.removeAll { $0 == trouble } }

    /// Has a notification taken away.
    mutating func close(_ number: UInt32) { closings.append(number) }

    /// Keeps what was told for who chooses one of the actions of its notification.
    mutating func offer(_ ends: EndNotification, as number: UInt32) {
        choices = choices.suffix(Self.choosable - 1) + [(number, ends)]
    }

    /// What a notification of ours told, which is then kept no longer.
    mutating func takeOffer(_ number: UInt32) -> EndNotification? {
        guard let place = choices.lastIndex(where: { $0.number == number }) else { return nil }
        return choices.remove(at: place).ends
    }

    /// Notes that the numbers of notifications mean nothing any more.
    mutating func forgetNumbers() {
        choices = []
        closings = []
        board.forgetNumbers()
    }
}

/// What the daemon tells.
extension NotificationQueue {
    /// Notes that a watch of endings begins, which tells first what happened before.
    mutating func beginWatch() { isCatchingUp = true }

    /// Notes that the daemon is gone.
    mutating func loseDaemon() { isCatchingUp = false }

    /// Takes events of the watch of endings.
    ///
    /// - Parameters:
    ///   - events: in the order in which they came.
    ///   - since: the revision up to which all has been received with them.
    mutating func take(_ events: [Event], since: Int64?) {
        for event in events {
            switch event.type {
            case .finished: take(ending: event)
            case .synced:
                isCatchingUp = false
                floor = nil
                isStateDue = true
            case .heartbeat: isStateDue = true
            default: break
            }
        }
        seen = since ?? seen
        lastEnding = lastEnding ?? seen
    }

    private mutating func take(ending event: Event) {
        guard let countdown = event.countdown, countdown.revision > floor ?? .min else { return }
        backlog.append(countdown)
    }

    /// Notes that the daemon does not keep all that ended since the revision that was told last, but what came after
    /// `oldest`.
    mutating func noteGap(_ oldest: Int64) {
        floor = backlog.newestRevision ?? lastEnding
        self.oldest = oldest
        backlog.noteGap()
    }

    /// Takes events of the watch of progress.
    mutating func show(_ events: [Event]) {
        for event in events {
            if let number = board.take(event) { close(number) }
        }
    }

    /// Takes away all progress that is shown.
    mutating func hideProgress() {
        for number in board.clear() { close(number) }
    }

    /// Notes that the record could not be written, so that it is tried again.
    mutating func keepStateDue() { isStateDue = true }

    /// What to write into the record; nil where there is no need.
    mutating func takeState() -> DeliveryState? {
        guard isStateDue else { return nil }
        isStateDue = false
        return told
    }
}

/// What comes over the bus.
extension NotificationQueue {
    /// Notes that the bus is gone, and with it all that was on its way.
    mutating func loseBus() { change() }

    /// Takes the answer to a call; nil is a refusal.
    mutating func take(_ answer: [BusValue]?, to purpose: Purpose) {
        guard purpose != .none else { return }
        isAwaiting = false
        if answer != nil, purpose != .capabilities { succeed() }
        switch (purpose, answer) {
        case (.none, _): break
        case (.capabilities, let values?):
            guard case .strings(let names) = values.first else { return fail() }
            service = .ready(Capabilities(named: names))
        case (.ends(let ends), let values?): note(ends, values.number)
        case (.trouble(let trouble), _?): settle(trouble)
        case (.progress(let key), let values?):
            if let number = values.number, !board.show(key, as: number) { close(number) }
        case (.progress(let key), nil):
            board.retry(key)
            fail()
        case (_, nil): fail()
        }
    }

    /// Takes a signal, and returns what somebody chose to be done.
    mutating func take(_ signal: DesktopSignal) -> (Action, Countdown)? {
        switch signal {
        case .changed: change()
        case .closed(let number):
            _ = takeOffer(number)
            board.close(number)
        case .chosen(let action, let number):
            guard let ends = takeOffer(number) else { return nil }
            close(number)
            if case .ending(let countdown) = ends { return (action, countdown) }
        }
        return nil
    }

    /// How long to wait before whoever shows notifications is tried again, in microseconds.
    var pause: Int64 { Backoff.delay(before: failures) }

    /// Tries again.
    mutating func retry() {
        if service == .failed { service = .unknown }
    }

    mutating func note(_ ends: EndNotification, _ number: UInt32?) {
        if let number, ends != .gap { offer(ends, as: number) }
        backlog.remove(ends)
        let revision = ends == .gap ? max(delivered ?? .min, oldest ?? .min) : ends.revision
        delivered = revision ?? delivered
        lastEnding = ends.revision ?? lastEnding
        isStateDue = true
    }

    private mutating func fail() {
        failures += 1
        service = .failed
    }

    private mutating func change() {
        isAwaiting = false
        failures = 0
        service = .unknown
        forgetNumbers()
    }
}

extension [BusValue] {
    /// The number of the notification that was made.
    fileprivate var number: UInt32? {
        guard case .uint32(let number) = first else { return nil }
        return number
    }
}

/// What one notification tells of endings.
enum EndNotification: Hashable {
    /// That endings may have been missed.
    case gap
    case ending(Countdown)
    /// So many in one, the newest of them by name.
    case endings(newest: [Countdown], count: Int)

    /// The last revision that it tells; nil where it tells none.
    var revision: Int64? {
        switch self {
        case .gap: nil
        case .ending(let countdown): countdown.revision
        case .endings(let newest, _): newest.last?.revision
        }
    }

    /// How many endings it tells.
    var count: Int {
        switch self {
        case .gap: 0
        case .ending: 1
        case .endings(_, let count): count
        }
    }

    /// How it is shown.
    func notification(_ strings: Strings) -> Notification {
        switch self {
        case .gap:
            Notification(
                category: .trouble,
                summary: "Countdowns may have ended unseen",
                body: "The daemon does not keep all that ended since it was told last. What it has follows."
            )
        case .ending(let countdown):
            Notification(
                category: .ended,
                summary: Strings.name(countdown),
                body: strings.ending(countdown),
                actions: Action.allCases
            )
        case .endings(let newest, let count):
            Notification(
                category: .ended,
                summary: "\(count) countdowns have ended",
                body: Self.lines(newest, count, strings).joined(separator: "\n"),
                actions: [.dismiss]
            )
        }
    }

    private static func lines(_ newest: [Countdown], _ count: Int, _ strings: Strings) -> [String] {
        let named = newest.map { countdown in
            Strings.name(countdown) + (countdown.endedUSec.map { ", \(strings.time($0))" } ?? "")
        }
        return count > newest.count ? ["\(count - newest.count) earlier ones"] + named : named
    }
}

/// The endings that are to be told, in the order of their revisions. However many there are, it takes no more room than
/// those that will be named.
struct Backlog {
    /// So many are told one by one; more at once become one notification. GNOME Shell keeps three of a program before
    /// version 48, and drops the older ones.
    static let oneByOne = 3
    /// So many are named where they are told in one.
    static let named = 10

    private var newest: [Countdown] = []
    private var count = 0
    /// Whether it is to be told first that endings may have been missed.
    private var hasGap = false

    var isEmpty: Bool { count == 0 && !hasGap }

    /// That of the newest ending that waits.
    var newestRevision: Int64? { newest.last?.revision }

    /// How many endings wait.
    var waiting: Int { count }

    mutating func append(_ ending: Countdown) {
        newest.append(ending)
        count += 1
        trim()
    }

    mutating func noteGap() { hasGap = true }

    /// What is to be told next; nil where there is nothing.
    var next: EndNotification? {
        if hasGap { return .gap }
        guard let first = newest.first else { return nil }
        return count <= Self.oneByOne ? .ending(first) : .endings(newest: newest, count: count)
    }

    /// Takes out what has been told; more may have come since that was the next.
    mutating func remove(_ told: EndNotification) {
        if told == .gap { hasGap = false }
        count -= min(count, told.count)
        trim()
    }

    /// Those that are not the newest are only counted.
    private mutating func trim() { newest = Array(newest.suffix(min(count, Self.named))) }
}
