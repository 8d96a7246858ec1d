import Glibc
import IPC

/// What poll(2) waits for.
struct PollSet {
    private var entries: [pollfd] = []
    private var end: Client.Deadline?

    /// Waits for a descriptor too.
    mutating func add(_ descriptor: Int32, for events: Int16 = Int16(POLLIN)) {
        entries.append(pollfd(fd: descriptor, events: events, revents: 0))
    }

    /// Waits until then at most.
    mutating func add(_ deadline: Client.Deadline) {
        end = end.map { $0.monotonicUSec < deadline.monotonicUSec ? $0 : deadline } ?? deadline
    }

    /// Waits until something is ready or an end has come; whoever wanted something looks for himself.
    mutating func wait() {
        let milliseconds = end.map { Int32(clamping: ($0.remainingUSec + 999) / 1_000) } ?? -1
        unsafe poll(&entries, nfds_t(entries.count), milliseconds)
    }
}
