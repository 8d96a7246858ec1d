import IPC
import Varlink

/// The ends that ring, each until it is answered or was rung often enough. It does no I/O: the queue of notifications owns it and
/// reports events.
struct Bell {
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

    var hasRings: Bool { !rings.isEmpty }

    /// Takes an event other than an end: another start answers, and after the first `synced` nothing rang before.
    mutating func receive(_ event: Event) {
        switch event.type {
        case .started, .restarted, .attached, .cancelled:
            rings.removeAll { event.key?.hasSameBytes(as: $0.key) == true }
        case .synced: rungBefore = nil
        default: break
        }
    }

    /// Takes an end that was not delivered before, this many microseconds after it came. Returns whether it rings.
    mutating func end(_ countdown: Countdown, late: Int64) -> Bool {
        rings.removeAll { $0.key.hasSameBytes(as: countdown.key) }
        let mode = rules.announcement(of: countdown).ring
        guard mode != .no, countdown.revision > rungBefore ?? .min else { return false }
        let isMissed = late > Self.maximumLateness
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

    /// Notes that the user has answered a notification.
    mutating func answered(_ number: UInt32) { rings.removeAll { $0.notification == number } }

    /// Notes that another notification service gives numbers from now on.
    mutating func forgetNumbers() {
        for place in rings.indices { rings[place].notification = nil }
    }

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
