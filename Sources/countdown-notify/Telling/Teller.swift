import IPC

/// What is told to the person at the desktop: it is handed what happens, and says which call is to be made next.
///
/// One notification is on its way at a time. The next is sent once it has been answered, so whoever shows them sets the
/// pace, and an ending counts as told once its notification has a number.
struct Teller {
    /// What a call was made for.
    enum Purpose: Hashable {
        case capabilities
        case telling(Telling)
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
    var board = ProgressBoard()
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
    var isRecordDue = false
    /// Whether nothing more is begun.
    private var isEnding = false
    private var troubles: [Notification] = []
    private var closings: [UInt32] = []
    private var choices: [(number: UInt32, telling: Telling)] = []

    /// - Parameter told: what was told before; nil where nothing ever was.
    init(told: Told?) {
        seen = told?.all
        delivered = told?.all
        lastEnding = told?.ending
    }

    /// What has been told; nil where nothing ever was.
    var told: Told? {
        guard let all = backlog.isEmpty ? seen : delivered, let lastEnding else { return nil }
        return Told(all: all, ending: lastEnding)
    }

    /// The call that is to be made next; nil where there is none for now.
    mutating func next(_ wording: @autoclosure () -> Wording) -> Outgoing? {
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
            guard let next = nextNotification(wording(), capabilities) else { return nil }
            isAwaiting = true
            return next
        }
    }

    private var hasSomething: Bool { !troubles.isEmpty || (!isCatchingUp && !backlog.isEmpty) || board.hasNext }

    private mutating func nextNotification(_ wording: Wording, _ capabilities: Capabilities) -> Outgoing? {
        if let trouble = troubles.first {
            attempts += 1
            return Outgoing(purpose: .trouble(trouble), call: trouble.call(under: capabilities))
        }
        if !isCatchingUp, let telling = backlog.next {
            attempts += 1
            let call = telling.notification(wording).call(under: capabilities)
            return Outgoing(purpose: .telling(telling), call: call)
        }
        return board.next(wording).map { key, notification, number in
            Outgoing(purpose: .progress(key: key), call: notification.call(replacing: number, under: capabilities))
        }
    }

    /// Takes the first notification out of the queue as if it had been shown.
    private mutating func dropFirst() {
        if let trouble = troubles.first {
            drop(.trouble(trouble))
        } else if !isCatchingUp, let telling = backlog.next {
            drop(.telling(telling))
        }
    }

    /// Takes a notification out of its queue that cannot be sent; it counts as shown.
    mutating func drop(_ purpose: Purpose) {
        isAwaiting = false
        switch purpose {
        case .telling(let telling): note(telling, nil)
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
        isRecordDue = true
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
    mutating func offer(_ telling: Telling, as number: UInt32) {
        choices = choices.suffix(Self.choosable - 1) + [(number, telling)]
    }

    /// What a notification of ours told, which is then kept no longer.
    mutating func takeOffer(_ number: UInt32) -> Telling? {
        guard let place = choices.lastIndex(where: { $0.number == number }) else { return nil }
        return choices.remove(at: place).telling
    }

    /// Notes that the numbers of notifications mean nothing any more.
    mutating func forgetNumbers() {
        choices = []
        closings = []
        board.forgetNumbers()
    }
}
