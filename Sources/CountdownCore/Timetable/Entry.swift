/// Where an entry lies; it may lie somewhere else, or be another's, once its countdown is no longer known.
public struct Slot: Hashable, Sendable {
    let index: Int32

    static let none = Slot(index: -1)
}

/// What is kept of every countdown, in 64 bytes; what few of them have is in an `Extra`.
///
/// The deadline of a running one is not here: it stands in the heap of its clock.
struct Entry: Sendable {
    enum State: Sendable {
        case running
        case paused
        case finished
        case cancelled
    }

    var revision: Revision
    var length: TimeSpan
    var started: WallInstant
    var previous = Slot.none
    var next = Slot.none
    /// The number of what else there is, `Extra.none` where there is nothing.
    var extra = Extra.none
    var state: State
    var clock: Clock
    var forget: Bool
    /// Empty where the key is a long one.
    var key: ShortKey

    init(_ countdown: borrowing Countdown) {
        revision = countdown.revision
        length = countdown.length
        started = countdown.started
        state = State(countdown.phase)
        clock = countdown.clock
        forget = countdown.forget
        key = countdown.key.short
    }

    var isLive: Bool { state == .running || state == .paused }
}

extension Entry.State {
    init(_ phase: Phase) {
        self =
            switch phase {
            case .running: .running
            case .paused: .paused
            case .finished: .finished
            case .cancelled: .cancelled
            }
    }
}

/// What only some countdowns have.
struct Extra: Sendable {
    static let none: Int32 = -1
    static let empty = Extra()

    let texts: Texts
    /// Nil where the key is a short one.
    let key: Key?
    /// When it ended; nothing where it did not.
    let ended: WallInstant
    /// What remains of a paused one, what remained of a cancelled one, how late a finished one was.
    let span: TimeSpan

    /// Whether a countdown has anything of all that.
    static func isNeeded(for countdown: borrowing Countdown) -> Bool {
        if case .running = countdown.phase { return countdown.hasTexts || countdown.key.isLong }
        return true
    }

    init(_ countdown: borrowing Countdown) {
        texts = countdown.texts
        key = countdown.key.isLong ? countdown.key : nil
        (ended, span) =
            switch countdown.phase {
            case .running: (WallInstant(microseconds: 0), .zero)
            case .paused(let remaining): (WallInstant(microseconds: 0), remaining)
            case .finished(let instant, let late): (instant, late)
            case .cancelled(let instant, let remaining): (instant, remaining)
            }
    }

    private init() {
        (texts, key, ended, span) = (.none, nil, WallInstant(microseconds: 0), .zero)
    }
}
