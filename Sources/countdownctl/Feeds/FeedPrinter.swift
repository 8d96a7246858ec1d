import IPC

/// Prints a line of a feed wherever what it shows has changed.
struct FeedPrinter: EventPrinter {
    /// How long what has finished is shown, in microseconds.
    private static let finishedLength: Int64 = 5_000_000

    private let line: FeedLine
    private var board = FeedBoard()
    private var isSynced = false
    private var last: String?
    /// The key of the countdown that is shown before the others.
    private var first: String?
    /// When what has finished is shown no longer.
    private(set) var deadline: Client.Deadline?

    init(_ line: FeedLine) { self.line = line }

    mutating func show(_ events: [Event]) throws(StreamFailure) {
        for event in events {
            if event.type == .synced, !isSynced {
                isSynced = true
                board.bringUpToDate(at: wallClock())
            }
            if board.take(event) { deadline = .after(microseconds: Self.finishedLength) }
        }
        // A first walk tells one countdown after the other, and the ticks of those behind the first change little.
        guard isSynced, events.contains(where: { $0.type != .tick || $0.key == first }) else { return }
        board.bringUpToDate(at: wallClock(), but: first)
        try print()
    }

    /// Shows that there is nothing: the daemon is gone, and what it knew may change unseen.
    mutating func showNothing() throws(StreamFailure) {
        isSynced = false
        try print([])
    }

    /// Shows nothing and forgets what was told, as all is told anew.
    mutating func beginAfresh() throws(StreamFailure) {
        board = FeedBoard()
        deadline = nil
        try showNothing()
    }

    /// Lets what has finished go where its time has come.
    mutating func passDeadline() throws(StreamFailure) {
        guard let deadline, deadline.remainingUSec == 0 else { return }
        self.deadline = nil
        board.clearFinished()
        if isSynced { try print() }
    }

    private mutating func print() throws(StreamFailure) { try print(board.countdowns) }

    private mutating func print(_ countdowns: [Countdown]) throws(StreamFailure) {
        first = countdowns.first?.key
        let text = line.render(countdowns, clock: .local)
        guard text != last else { return }
        let preamble = last == nil ? line.preamble ?? "" : ""
        last = text
        try StandardStream.output.write(Array("\(preamble)\(text)\n".utf8))
    }
}
