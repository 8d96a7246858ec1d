import IPC
import Varlink

/// The ends of countdowns, each from its event until it was shown, has rung, and was answered or closed. It does no I/O and reads no
/// clock: its owner reports events and shows the notification that `next` returns.
///
/// Ends are shown in the order of their revisions. An end counts as delivered once its notification has a number.
struct Ends {
    private struct End {
        let countdown: Countdown
        /// How many sounds are still to be played.
        var sounds: Int
        /// Whether the sound that is being played began after this end.
        var hasSound = false
        /// The number of its notification; nil while it waits, and once it cannot be answered on the desktop any more.
        var number: UInt32?
    }

    /// Up to this number, ends have a notification each; more become one notification. GNOME Shell before version 48 keeps three
    /// notifications of a program and drops older ones.
    private static let maximumSingle = 3
    /// The most ends that one notification names.
    private static let maximumNamed = 10
    /// The most ends that are kept, far more than fit on a screen. Older ones are only counted until they are shown, are silent,
    /// and their actions cannot be chosen.
    private static let maximumKept = 256
    /// An end that is reported later than this many microseconds rings once, because it was missed, and may be one of
    /// many.
    private static let maximumLateness: Int64 = 60_000_000

    let rules: AnnouncementRules
    private let maximumSounds: Int
    private var kept: [End] = []
    /// How many ends wait to be shown: the last ones of those that are kept, and older ones.
    private(set) var waiting = 0
    /// The revision at which the daemon's history begins, until the notice that ends may have been missed has been shown.
    private var gap: Int64?
    /// Whether the daemon is still reporting the current state or earlier ends.
    private(set) var isCatchingUp = false
    private var ages = ReportAges()
    /// While the daemon reports its history after a trim: ends up to this revision were delivered before.
    private var floor: Int64?
    /// The revision of the last end that rang before this program was started; nil after the first `synced`.
    private var rungBefore: Int64?
    /// The revision up to which everything has been received; nil before the first events.
    private var received: Int64?
    /// The revision up to which everything has been delivered while ends wait.
    private var delivered: Int64?
    /// The revision of the last end that was delivered, or the revision at which delivery began.
    private var lastEnd: Int64?
    private var lastRing: Int64?
    private var isStateUnsaved = false

    /// Continues from the state that was saved; nil at the first start. An end has at most `maximumSounds`.
    init(delivered: DeliveryState?, rules: AnnouncementRules = AnnouncementRules(), maximumSounds: Int = 20) {
        self.rules = rules
        self.maximumSounds = maximumSounds
        (rungBefore, lastRing, lastEnd) = (delivered?.lastRing, delivered?.lastRing, delivered?.lastEnd)
        (received, self.delivered) = (delivered?.revision, delivered?.revision)
    }

    // MARK: The state

    /// The revisions that have been delivered; nil before the first events.
    var state: DeliveryState? {
        guard let revision = hasNext ? delivered : received, let lastEnd else { return nil }
        return DeliveryState(revision: revision, lastEnd: lastEnd, lastRing: lastRing ?? lastEnd)
    }

    /// The state, if it should be saved now.
    mutating func takeUnsavedState() -> DeliveryState? {
        guard isStateUnsaved else { return nil }
        isStateUnsaved = false
        return state
    }

    /// Notes that the state is to be saved, because it could not be, or because the program ends.
    mutating func keepUnsaved() { isStateUnsaved = true }

    // MARK: The daemon

    /// Notes that a watch of ends begins, so that earlier ends come first.
    mutating func watchStarted() {
        isCatchingUp = true
        ages.watchWasLost()
    }

    mutating func daemonLost() { isCatchingUp = false }

    /// Notes that the daemon's history begins at the revision `oldest`.
    mutating func historyTrimmed(oldest: Int64) {
        floor = waiting > 0 ? kept.last?.countdown.revision : lastEnd
        gap = oldest
    }

    /// Takes events of the watch in their order, at instants of both clocks in microseconds, and the revision up to which everything
    /// has been received with them.
    mutating func receive(_ events: [Event], since: Int64?, wall: Int64, boot: Int64) {
        if !hasNext { delivered = received ?? delivered }
        for event in events {
            switch event.type {
            case .finished:
                guard let countdown = event.countdown, countdown.revision > floor ?? .min else { break }
                let age = ages.age(of: event, wall: wall, boot: boot)
                let late = age.addingReportingOverflow(event.lateUSec ?? 0)
                append(countdown, late: late.overflow ? .max : late.partialValue)
            // Another start answers.
            case .started, .restarted, .attached, .cancelled: if let key = event.key { silence(key) }
            case .synced:
                isCatchingUp = false
                (floor, rungBefore) = (nil, nil)
                isStateUnsaved = true
            case .heartbeat: isStateUnsaved = true
            default: break
            }
            ages.receive(event, boot: boot)
        }
        received = since ?? received
        lastEnd = lastEnd ?? received
    }

    /// Takes an end, this many microseconds after it came.
    private mutating func append(_ countdown: Countdown, late: Int64) {
        silence(countdown.key)
        let mode = rules.announcement(of: countdown).ring
        let rings = mode != .no && countdown.revision > rungBefore ?? .min
        let sounds = mode == .once || late > Self.maximumLateness ? 1 : maximumSounds
        if kept.count == Self.maximumKept { kept.removeFirst() }
        kept.append(End(countdown: countdown, sounds: rings ? sounds : 0))
        waiting += 1
        guard rings else { return }
        // It does not ring again after a restart.
        lastRing = countdown.revision
        isStateUnsaved = true
    }

    // MARK: Notifications

    private var firstWaiting: Int { max(0, kept.count - waiting) }

    private var hasNext: Bool { waiting > 0 || gap != nil }

    /// The next notification; nil if nothing waits, and while the daemon still reports earlier ends.
    var next: EndNotification? {
        if isCatchingUp { return nil }
        if gap != nil { return .gap }
        let newest = kept.suffix(min(waiting, Self.maximumNamed)).map(\.countdown)
        guard let first = newest.first else { return nil }
        return waiting <= Self.maximumSingle ? .one(first) : .several(newest: newest, count: waiting)
    }

    /// Notes the number of a notification; nil if it was dropped. More ends may have come since it was the next.
    mutating func shown(_ notification: EndNotification, as number: UInt32?) {
        let first = firstWaiting
        waiting -= min(waiting, notification.count)
        for place in first..<firstWaiting { kept[place].number = number }
        if let revision = notification.revision {
            (delivered, lastEnd) = (revision, revision)
        } else {
            delivered = max(delivered ?? .min, gap ?? .min)
            gap = nil
        }
        isStateUnsaved = true
        forget()
    }

    /// Notes that a notification was closed. If the user closed it, its ends are answered.
    mutating func closed(_ number: UInt32, byUser: Bool) {
        for place in kept.indices where kept[place].number == number {
            if byUser { kept[place].sounds = 0 }
            // The notification service may show it again, for an answer.
            if kept[place].sounds == 0 { kept[place].number = nil }
        }
        forget()
    }

    /// Takes the ends of a notification that the user has answered; none if it is the notification of something else.
    mutating func answered(_ number: UInt32) -> [Countdown] {
        defer { closed(number, byUser: true) }
        return kept.filter { $0.number == number }.map(\.countdown)
    }

    /// Notes that another notification service gives numbers from now on.
    mutating func forgetNumbers() {
        for place in kept.indices { kept[place].number = nil }
        forget()
    }

    /// Forgets the ends for which nothing more can happen.
    private mutating func forget() {
        let first = firstWaiting
        kept = kept[..<first].filter { $0.sounds > 0 || $0.number != nil } + kept[first...]
    }

    // MARK: Sounds

    /// Whether the alarm is to be played. Until all ends have been reported nothing rings, as their keys may run again.
    var isRinging: Bool { !isCatchingUp && kept.contains { $0.sounds > 0 } }

    mutating func soundBegan() {
        for place in kept.indices { kept[place].hasSound = true }
    }

    /// Notes that the sound was played to its end. It counts only for ends before its beginning, so that each end has a whole
    /// sound.
    mutating func soundPlayed() {
        for place in kept.indices where kept[place].hasSound {
            kept[place].sounds = max(0, kept[place].sounds - 1)
            kept[place].hasSound = false
        }
        forget()
    }

    /// Notes that no sound can be played.
    mutating func soundFailed() {
        for place in kept.indices { kept[place].sounds = 0 }
        forget()
    }

    /// Silences the end of a key; no key has two that ring.
    private mutating func silence(_ key: String) {
        guard let place = kept.firstIndex(where: { $0.sounds > 0 && $0.countdown.key.hasSameBytes(as: key) }) else {
            return
        }
        kept[place].sounds = 0
        forget()
    }
}
