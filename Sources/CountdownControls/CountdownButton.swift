/// A button that does something, for example sends a code, and then counts down until it can be pressed again: a state
/// machine without a view, a clock or a connection.
///
/// The program calls a method for each event, and draws ``title(at:)``.
///
/// ```swift
/// var button = CountdownButton(.init(idle: "Send code", counting: "Again in {s} s", again: "Send a new code"))
/// if button.press(at: now) { send() }     // true: the program sends now
/// button.count(.seconds(60), at: now)     // how long it may not be pressed
/// button.succeed()                        // the code was sent
/// ```
///
/// Methods take the time on a clock that the program chooses, as the duration since any instant. The clock must not be
/// set, and should run on while the machine sleeps; `ContinuousClock` does. What remains is computed from the end of the
/// count, so a program that is late to redraw shows the right number nevertheless.
public struct CountdownButton: Equatable, Sendable {
    /// The titles of a button.
    public struct Titles: Equatable, Sendable {
        /// The title at first.
        public var idle: String
        /// The title between a press and its success or failure; nil for the title from before the press.
        public var sending: String?
        /// The title while it counts.
        public var counting: RemainingText
        /// The title after a count, or after a success without one; nil for ``idle``.
        public var again: String?
        /// A line beside the button while it counts.
        public var sent: RemainingText?

        /// The titles of a button, by default "Get code", "60 s" and "Get code" again.
        public init(
            idle: String = "Get code",
            sending: String? = nil,
            counting: RemainingText = "{s} s",
            again: String? = nil,
            sent: RemainingText? = nil
        ) {
            self.idle = idle
            self.sending = sending
            self.counting = counting
            self.again = again
            self.sent = sent
        }
    }

    /// What a button is doing.
    public enum State: String, Sendable {
        /// It was not pressed yet.
        case idle
        /// It was pressed, and the program has not said yet whether that has succeeded.
        case sending
        /// It counts.
        case counting
        /// It has counted, and can be pressed again.
        case again
    }

    /// A count: what remained at an instant.
    private struct Count: Equatable, Sendable {
        var remaining: Duration
        var instant: Duration
        var isPaused: Bool

        func remaining(at now: Duration) -> Duration { isPaused ? remaining : remaining - (now - instant) }
    }

    /// The titles. They may be set at any time; a title that is set while the button counts shows afterwards.
    public var titles: Titles
    /// Whether the program could act on a press. It cannot, for example, while the server is away, or before it knows
    /// whether the button counts. Presses are ignored then; everything else is as usual.
    public var isAvailable = true
    /// Why the last press came to nothing; nil after the next press or count.
    public private(set) var failure: String?

    /// The count; it may have ended, and while the button is sending it does not show.
    private var count: Count?
    private var isSending = false
    private var isAgain = false

    /// A button that was not pressed yet.
    public init(_ titles: Titles = Titles()) { self.titles = titles }
}

/// The picture of a button.
extension CountdownButton {
    /// The state at a time.
    public func state(at now: Duration) -> State {
        if isSending { return .sending }
        if countRemaining(at: now) != nil { return .counting }
        return isAgain || count != nil ? .again : .idle
    }

    /// Whether it takes a press.
    public func isEnabled(at now: Duration) -> Bool {
        isAvailable && !isSending && countRemaining(at: now) == nil
    }

    /// What remains; nil unless it counts.
    public func remaining(at now: Duration) -> Duration? { isSending ? nil : countRemaining(at: now) }

    /// Whether it counts, and the count is paused.
    public var isPaused: Bool { !isSending && count?.isPaused == true }

    /// The title.
    public func title(at now: Duration) -> String {
        switch state(at: now) {
        case .idle: titles.idle
        case .again: titles.again ?? titles.idle
        case .counting: titles.counting.text(for: remaining(at: now) ?? .zero)
        case .sending: titles.sending ?? (isAgain ? titles.again : nil) ?? titles.idle
        }
    }

    /// The line beside the button; nil unless it counts and has one.
    public func message(at now: Duration) -> String? {
        guard let remaining = remaining(at: now) else { return nil }
        return titles.sent?.text(for: remaining)
    }

    /// How long until the title changes by itself; nil if only an event changes it. A program redraws then, and asks
    /// again.
    public func nextChange(after now: Duration) -> Duration? {
        guard let remaining = remaining(at: now), !isPaused else { return nil }
        let fraction = remaining - .seconds(remaining.components.seconds)
        return fraction > .zero ? fraction : .seconds(1)
    }

    private func countRemaining(at now: Duration) -> Duration? {
        guard let remaining = count?.remaining(at: now), remaining > .zero else { return nil }
        return remaining
    }
}

/// The events of a button.
extension CountdownButton {
    /// A press of the user.
    ///
    /// - Returns: whether the program acts on it, and later calls ``succeed()`` or ``fail(_:)``; false if the press is
    ///   ignored because the button is sending, counting, or not available.
    public mutating func press(at now: Duration) -> Bool {
        guard isEnabled(at: now) else { return false }
        end()
        failure = nil
        isSending = true
        return true
    }

    /// The press has succeeded. The button shows the count, if one was reported meanwhile; otherwise it can be pressed
    /// again.
    public mutating func succeed() {
        guard isSending else { return }
        isSending = false
        if count == nil { isAgain = true }
    }

    /// The press came to nothing. The button is as before, or shows the count, if one was reported meanwhile.
    ///
    /// - Parameter reason: becomes ``failure``.
    public mutating func fail(_ reason: String? = nil) {
        isSending = false
        failure = reason
    }

    /// The button may not be pressed for some time, because of its own press or of another one elsewhere. While it is
    /// sending, the count is kept until it has sent. If it counts already, the new count replaces the old one.
    ///
    /// - Parameters:
    ///   - remaining: how long; if nothing remains, the count ends.
    ///   - isPaused: whether the time stands still until the next report.
    ///   - now: the time.
    public mutating func count(_ remaining: Duration, isPaused: Bool = false, at now: Duration) {
        guard remaining > .zero else { return end() }
        failure = nil
        count = Count(remaining: remaining, instant: now, isPaused: isPaused)
    }

    /// Corrects the remaining time of the count; ignored if the button does not count.
    public mutating func tick(_ remaining: Duration, at now: Duration) {
        count?.remaining = remaining
        count?.instant = now
    }

    /// The count has ended, for example because it was cancelled.
    public mutating func end() {
        guard count != nil else { return }
        count = nil
        isAgain = true
    }

    /// It is not known any more whether there is a count. The titles are as before it.
    public mutating func forget() { count = nil }
}
