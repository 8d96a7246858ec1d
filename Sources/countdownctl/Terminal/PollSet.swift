import Glibc
import IPC

/// Descriptors that poll(2) waits for.
struct PollSet {
    private var entries: [pollfd] = []

    /// Adds one and returns its place.
    mutating func add(_ descriptor: Int32) -> Int {
        entries.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        return entries.count - 1
    }

    /// Waits until one can be read, or the first of the deadlines passes.
    mutating func wait(until deadlines: [Client.Deadline?]) {
        let left = deadlines.compactMap { $0?.remainingUSec }.min()
        let timeout = left.map { Int32(clamping: $0 / 1_000 + ($0 % 1_000 == 0 ? 0 : 1)) } ?? -1
        // Nothing is ready where a signal interrupted it; whoever waits comes again.
        guard unsafe poll(&entries, nfds_t(entries.count), timeout) < 0 else { return }
        for place in entries.indices { entries[place].revents = 0 }
    }

    /// Whether the one at a place can be read, be it the end.
    func isReady(_ place: Int?) -> Bool { place.map { entries[$0].revents != 0 } ?? false }
}
