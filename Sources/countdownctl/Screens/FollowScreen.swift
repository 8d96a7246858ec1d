import IPC
import Varlink

/// Countdowns that are followed, as a person sees them and changes them by keys.
struct FollowScreen: Screen {
    enum Subject: Equatable {
        /// A countdown, to its end.
        case one
        /// Whatever is started under a key.
        case anyOfOneKey
        case several
    }

    /// A message in the place of the key hints.
    enum Message: Equatable {
        /// Whether to cancel is asked.
        case question(key: String)
        case failure(String)
        case tooLittleLeft
    }

    private static let minute: Int64 = 60_000_000

    let subject: Subject
    private var board = CountdownBoard()
    private(set) var isLost = false
    private(set) var note: Message?
    /// The selected key; if it ends, the one below is selected.
    private var selected: String?

    init(_ subject: Subject) { self.subject = subject }

    mutating func handle(_ event: ScreenEvent) -> [ScreenAction] {
        switch event {
        case .key(let key): return handle(key)
        case .told(let event): return handle(event)
        case .notice(let notice, let sentence): return handle(notice, sentence)
        case .answered(let answer, _): return handle(answer)
        case .paste, .click, .focus, .ended, .woken: return []
        }
    }

    mutating func count(to now: Duration) { board.count(to: now) }

    var countdowns: TextMap<Countdown> { board.countdowns }

    /// Whether the watch has sent all countdowns, or the one that is followed.
    var isComplete: Bool { board.isSynced || subject == .one && !countdowns.isEmpty }

    /// The first countdowns to end, in that order.
    func soonest(_ count: Int) -> [Countdown] { board.soonest(count) }

    /// The selected countdown, which keys change.
    var selection: Countdown? { selected.flatMap { countdowns[$0] } ?? soonest(1).first }

    private mutating func handle(_ event: Event) -> [ScreenAction] {
        let isEnd = event.type == .finished || event.type == .cancelled
        if isEnd, let key = event.key { deselect(key) }
        _ = board.apply(event)
        return isEnd ? [.tell(event)] : []
    }

    /// Selects another countdown before one leaves the board.
    private mutating func deselect(_ key: String) {
        if selected?.hasSameBytes(as: key) == true { selected = neighbour(1) ?? neighbour(-1) }
        if note == .question(key: key) { note = nil }
    }

    private mutating func handle(_ notice: WatchEvent, _ sentence: String?) -> [ScreenAction] {
        switch notice {
        case .lost, .stillLost: isLost = true
        case .recovered: isLost = false
        case .forgotten(let keys): for key in keys { deselect(key) }
        case .historyTrimmed, .started, .events, .current: break
        }
        board.apply(notice)
        if case .historyTrimmed = notice, let sentence { return [.print([sentence])] }
        // While the daemon is away, the screen says so itself.
        return []
    }

    private mutating func handle(_ answer: Result<Countdown, ClientError>) -> [ScreenAction] {
        // The watch reports the change.
        if case .failure(let error) = answer { note = .failure(CommandFailure(error).sentence) }
        return []
    }

    private mutating func handle(_ key: TerminalKey) -> [ScreenAction] {
        let question = note
        note = nil
        if case .question(let asked) = question { return key == .character("y") ? [.call(.cancel(key: asked))] : [] }
        switch key {
        case .character("q"), .character("Q"): return [.leave(subject == .one ? .interrupted : .success)]
        case .up, .character("k"): selected = neighbour(-1) ?? selected
        case .down, .character("j"): selected = neighbour(1) ?? selected
        // Without a picture, the user does not see what would change.
        default: if isComplete, let selection { return change(selection, key) }
        }
        return []
    }

    private mutating func change(_ countdown: Countdown, _ key: TerminalKey) -> [ScreenAction] {
        selected = countdown.key
        switch key {
        case .character(" "):
            return [.call(countdown.state == .paused ? .resume(key: countdown.key) : .pause(key: countdown.key))]
        case .character("+"), .character("="): return [.call(.adjust(key: countdown.key, by: Self.minute))]
        case .character("-"):
            // It would end at once, which is surely not meant.
            guard countdown.remainingUSec > Self.minute else {
                note = .tooLittleLeft
                return []
            }
            return [.call(.adjust(key: countdown.key, by: -Self.minute))]
        case .character("c"): note = .question(key: countdown.key)
        default: break
        }
        return []
    }

    /// The key at a distance below the selected one.
    private func neighbour(_ distance: Int) -> String? {
        let order = board.soonest()
        guard let place = order.firstIndex(where: { $0.key.hasSameBytes(as: selection?.key ?? "") }) else { return nil }
        return order.indices.contains(place + distance) ? order[place + distance].key : nil
    }
}
