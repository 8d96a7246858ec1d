import IPC

/// Countdowns that are followed, as a person sees them and changes them by keys.
struct FollowScreen: Screen {
    /// The countdowns that are followed.
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
        /// Less than a minute remains.
        case tooLittleLeft
    }

    private static let minute: Int64 = 60_000_000

    let subject: Subject
    /// The running and paused countdowns.
    private(set) var countdowns: [String: Countdown] = [:]
    /// Whether the watch has sent all countdowns.
    private(set) var isSynced = false
    /// Whether the daemon is gone.
    private(set) var isLost = false
    private(set) var note: Message?
    /// The selected key; if it ends, the one below is selected.
    private var selected: String?
    /// The keys with events since the connection was lost.
    private var heard: Set<String> = []

    init(_ subject: Subject) { self.subject = subject }

    mutating func handle(_ event: ScreenEvent) -> [ScreenAction] {
        switch event {
        case .key(let key): return handle(key)
        case .told(let event): return handle(event)
        case .notice(let notice): return handle(notice)
        case .answered(let request, let answer): return handle(answer, to: request)
        case .paste, .click, .focus, .ended: return []
        }
    }

    /// Those that end first, in that order.
    func soonest(_ count: Int) -> [Countdown] {
        countdowns.count <= 1_000
            ? Array(countdowns.values.sorted(by: CountdownTable.precedes).prefix(count))
            : countdowns.values.smallest(count, by: CountdownTable.precedes)
    }

    /// The one that keys are for.
    var selection: Countdown? { selected.flatMap { countdowns[$0] } ?? soonest(1).first }
}

extension FollowScreen {
    private mutating func handle(_ event: Event) -> [ScreenAction] {
        if event.type == .synced { isSynced = true }
        guard let key = event.key else { return [] }
        heard.insert(key)
        switch event.type {
        case .tick:
            if let remaining = event.remainingUSec { countdowns[key]?.remainingUSec = remaining }
        case .finished, .cancelled:
            end(key)
            return [.tell(event)]
        case .attached, .started, .restarted, .adjusted, .paused, .resumed:
            if let countdown = event.countdown { countdowns[key] = countdown }
        case .synced, .heartbeat: break
        }
        return []
    }

    private mutating func end(_ key: String) {
        if key == selected { selected = neighbour(1) ?? neighbour(-1) }
        if note == .question(key: key) { note = nil }
        countdowns[key] = nil
    }

    private mutating func handle(_ notice: EventStream.Notice) -> [ScreenAction] {
        switch notice {
        case .lost:
            isLost = true
            heard = []
            return []
        case .back:
            isLost = false
            // A countdown without a new event has not changed, or has ended and was forgotten.
            return countdowns.keys.filter { !heard.contains($0) }.map { .call(.get(key: $0)) }
        case .historyTrimmed, .trimmedAgain:
            countdowns = [:]
            isSynced = false
            return notice.sentence.map { [.print([$0])] } ?? []
        }
    }

    private mutating func handle(
        _ answer: Result<Countdown, CommandFailure>,
        to request: ScreenRequest
    ) -> [ScreenAction] {
        switch (request, answer) {
        case (.get(let key), .success(let countdown)):
            if ![.running, .paused].contains(countdown.state) { end(key) }
        case (.get(let key), .failure(let failure)): if failure.exitCode == .unknownKey { end(key) }
        // The watch reports the change.
        case (_, .success): break
        case (_, .failure(let failure)): note = .failure(failure.sentence)
        }
        return []
    }
}

extension FollowScreen {
    private mutating func handle(_ key: TerminalKey) -> [ScreenAction] {
        let question = note
        note = nil
        if case .question(let asked) = question { return key == .character("y") ? [.call(.cancel(key: asked))] : [] }
        switch key {
        case .character("q"), .character("Q"): return [.leave(subject == .one ? .interrupted : .success)]
        case .up, .character("k"): selected = neighbour(-1) ?? selected
        case .down, .character("j"): selected = neighbour(1) ?? selected
        default: if let selection { return change(selection, key) }
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
        let order = countdowns.values.sorted(by: CountdownTable.precedes)
        guard let place = order.firstIndex(where: { $0.key == selection?.key }) else { return nil }
        return order.indices.contains(place + distance) ? order[place + distance].key : nil
    }
}

extension Sequence {
    /// The first `count` elements of an order; `count` must be small.
    fileprivate func smallest(_ count: Int, by precedes: (Element, Element) -> Bool) -> [Element] {
        var first: [Element] = []
        for element in self {
            if first.count == count {
                guard let last = first.last, precedes(element, last) else { continue }
                first.removeLast()
            }
            first.insert(element, at: first.firstIndex { precedes(element, $0) } ?? first.endIndex)
        }
        return first
    }
}
