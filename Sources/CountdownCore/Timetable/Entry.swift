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

    init(_ countdown: Countdown) {
        revision = countdown.revision
        length = countdown.length
        started = countdown.started
        state = State(countdown.phase)
        clock = countdown.clock
        forget = countdown.forget
        key = ShortKey(countdown.key) ?? ShortKey()
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

/// The bytes of a key, where they are few enough to lie in the entry.
struct ShortKey: Sendable {
    static let capacity = 24

    private var count: UInt8 = 0
    private var bytes = InlineArray<24, UInt8>(repeating: 0)

    init() {}

    /// Nil where the key has more bytes.
    init?(_ key: Key) {
        let text = key.text.utf8.span
        guard text.count <= Self.capacity else { return nil }
        count = UInt8(truncatingIfNeeded: text.count)
        for index in text.indices { bytes[index] = text[index] }
    }

    /// Nil where it is empty, as no key is.
    var key: Key? {
        guard count > 0 else { return nil }
        let text = unsafe UTF8Span(unchecked: bytes.span.extracting(first: Int(count)))
        return Key(trusted: String(copying: text))
    }

    static func == (left: ShortKey, right: Key) -> Bool {
        let text = right.text.utf8.span
        guard text.count == Int(left.count) else { return false }
        for index in text.indices where left.bytes[index] != text[index] { return false }
        return true
    }
}

/// What only some countdowns have.
struct Extra: Sendable {
    static let none: Int32 = -1
    static let empty = Extra()

    var label: String?
    var metadata: [String: String] = [:]
    /// Nil where the key is a short one.
    var key: Key?
    /// When it ended; nothing where it did not.
    var ended = WallInstant(microseconds: 0)
    /// What remains of a paused one, what remained of a cancelled one, how late a finished one was.
    var span = TimeSpan.zero

    /// Nil where a countdown has nothing of all that.
    init?(_ countdown: Countdown) {
        label = countdown.label
        metadata = countdown.metadata
        key = countdown.key.text.utf8.count > ShortKey.capacity ? countdown.key : nil
        switch countdown.phase {
        case .running:
            guard label != nil || !metadata.isEmpty || key != nil else { return nil }
        case .paused(let remaining):
            span = remaining
        case .finished(let instant, let late):
            (ended, span) = (instant, late)
        case .cancelled(let instant, let remaining):
            (ended, span) = (instant, remaining)
        }
    }

    private init() {}
}
