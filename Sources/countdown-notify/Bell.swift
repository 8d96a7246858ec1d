import IPC
import Varlink

/// The ends that ring, each until it is answered or was rung often enough. It does no I/O: its owner reports events and
/// plays a sound while it `hasRings`.
struct Bell {
    /// An end that rings.
    private struct Ring {
        let key: String
        let revision: Int64
        /// How many sounds are still to be played.
        var remaining: Int
        /// The number of its notification; nil before it is shown.
        var notification: UInt32?
        /// Whether the sound that is being played began after this end.
        var hasSound = false
    }

    /// The most ends that ring at once; older ones become silent.
    private static let maximumRings = 256
    /// An end that is reported later than this many microseconds rings once, because it was missed, and may be one of
    /// many.
    private static let maximumLateness: Int64 = 60_000_000

    private let rules: AnnouncementRules
    /// The most sounds for an end.
    private let maximumSounds: Int
    private var rings: [Ring] = []
    /// The revision of the last end that rang before this program was started; nil after the first `synced`.
    private var rungBefore: Int64?

    /// - Parameters:
    ///   - rules: how countdowns are announced.
    ///   - maximumSounds: the most sounds for an end.
    ///   - lastRing: the revision of the last end that has rung, as it was saved.
    init(_ rules: AnnouncementRules, maximumSounds: Int, lastRing: Int64?) {
        self.rules = rules
        self.maximumSounds = maximumSounds
        rungBefore = lastRing
    }

    /// Whether an end rings.
    var hasRings: Bool { !rings.isEmpty }

    /// Takes events of the watch of ends.
    ///
    /// - Parameters:
    ///   - events: in the order in which they arrived.
    ///   - new: the revisions of the ends among them that were not delivered before.
    ///   - now: microseconds since 1970.
    /// - Returns: the revision of the last end that rings from now on; nil if none of the ends rings.
    mutating func receive(_ events: [Event], new: Set<Int64>, now: Int64) -> Int64? {
        var last: Int64?
        for event in events {
            switch event.type {
            case .finished:
                guard let countdown = event.countdown, new.contains(countdown.revision) else { continue }
                if end(countdown, now: now) { last = countdown.revision }
            case .started, .restarted, .attached, .cancelled:
                rings.removeAll { event.key?.hasSameBytes(as: $0.key) == true }
            case .synced: rungBefore = nil
            default: break
            }
        }
        return last
    }

    /// - Returns: whether it rings.
    private mutating func end(_ countdown: Countdown, now: Int64) -> Bool {
        rings.removeAll { $0.key.hasSameBytes(as: countdown.key) }
        let mode = rules.announcement(of: countdown).ring
        guard mode != .no, countdown.revision > rungBefore ?? .min else { return false }
        let (lateness, overflow) = now.subtractingReportingOverflow(countdown.endedUSec ?? now)
        let isMissed = overflow || lateness > Self.maximumLateness
        let ring = Ring(
            key: countdown.key,
            revision: countdown.revision,
            remaining: mode == .once || isMissed ? 1 : maximumSounds
        )
        rings = rings.suffix(Self.maximumRings - 1) + [ring]
        return true
    }

    /// Notes the number of the notification of ends.
    mutating func shown(_ ends: EndNotification, as number: UInt32) {
        for place in rings.indices where rings[place].notification == nil {
            switch ends {
            case .gap: return
            case .one(let countdown):
                if rings[place].revision == countdown.revision { rings[place].notification = number }
            case .several:
                if rings[place].revision <= ends.revision ?? .min { rings[place].notification = number }
            }
        }
    }

    /// Takes a signal of the notification service.
    mutating func receive(_ signal: DesktopSignal) {
        switch signal {
        case .serviceChanged: forgetNumbers()
        case .chosen(_, let number), .closed(let number, byUser: true):
            rings.removeAll { $0.notification == number }
        case .closed: break
        }
    }

    /// Notes that another notification service gives numbers from now on.
    mutating func forgetNumbers() {
        for place in rings.indices { rings[place].notification = nil }
    }

    /// Notes that a sound has begun.
    mutating func soundBegan() {
        for place in rings.indices { rings[place].hasSound = true }
    }

    /// Notes that the sound was played to its end. It counts only for ends before its beginning, so that each end has a whole
    /// sound.
    mutating func played() {
        for place in rings.indices where rings[place].hasSound {
            rings[place].remaining -= 1
            rings[place].hasSound = false
        }
        rings.removeAll { $0.remaining <= 0 }
    }

    /// Notes that no sound can be played.
    mutating func silence() { rings = [] }
}
