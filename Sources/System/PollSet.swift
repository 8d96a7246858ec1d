public import Glibc

/// The descriptors and deadlines that one call of poll(2) waits for.
public struct PollSet {
    private var entries: [pollfd] = []
    private var deadline: MonotonicDeadline?

    /// An empty set, which waits forever.
    public init() {}

    /// Adds a descriptor, which stays open until `wait` returns, for `POLLIN`, `POLLOUT` or both. Returns the place to
    /// ask `isReady` about after `wait`.
    @discardableResult
    public mutating func add(_ descriptor: Int32, for events: Int16 = Int16(POLLIN)) -> Int {
        entries.append(pollfd(fd: descriptor, events: events, revents: 0))
        return entries.count - 1
    }

    /// Adds a deadline; the earliest one ends the wait. Nil adds nothing.
    public mutating func add(_ deadline: MonotonicDeadline?) {
        guard let deadline else { return }
        self.deadline = self.deadline.map { min($0, deadline) } ?? deadline
    }

    /// Waits until a descriptor is ready, a deadline passes or a signal arrives.
    public mutating func wait() {
        // After an interruption nothing is ready, and the caller waits again.
        guard unsafe poll(&entries, nfds_t(entries.count), deadline?.pollTimeout ?? -1) < 0 else { return }
        for place in entries.indices { entries[place].revents = 0 }
    }

    /// Waits for a while; a signal may end the wait.
    public static func pause(microseconds: Int64) {
        var set = PollSet()
        set.add(.after(microseconds: microseconds))
        set.wait()
    }

    /// Whether the descriptor at a place was ready, or was closed by its peer; false for nil.
    public func isReady(_ place: Int?) -> Bool { place.map { entries[$0].revents != 0 } ?? false }

    /// Whether the other side of the descriptor at a place has closed, as when a terminal is gone; false for nil.
    public func isClosed(_ place: Int?) -> Bool {
        place.map { entries[$0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 } ?? false
    }
}
