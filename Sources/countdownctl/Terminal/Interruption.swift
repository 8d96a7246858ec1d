import Glibc
import IPC

/// Ctrl-C as something that is waited for along with a connection. From its making on, SIGINT no longer ends the
/// process: it is held back and let through only while `wait` waits, so that none falls between two waits.
struct Interruption: Waiting {
    /// The signals that are held back during a wait.
    private let mask: sigset_t
    /// A pipe whose reader may leave; nil where that is not waited for.
    private let pipe: Int32?

    /// - Parameter stream: one that may be a pipe, whose reader interrupts a wait by leaving.
    init(andReaderOf stream: StandardStream? = nil) {
        pipe = stream.flatMap { $0.isPipe ? $0.descriptor : nil }
        var interrupt = sigset_t()
        unsafe sigemptyset(&interrupt)
        unsafe sigaddset(&interrupt, SIGINT)
        var before = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, &interrupt, &before)
        // Whoever starts this program may hold it back, and it would never be heard.
        unsafe sigdelset(&before, SIGINT)
        mask = before
        // An empty handler is what makes the signal end a wait.
        let disposition = signal(SIGINT) { _ in }
        // A shell has what stands before an & ignore it, and so it stays.
        if unsafe unsafeBitCast(disposition, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
            signal(SIGINT, SIG_IGN)
        }
    }

    func wait(for descriptor: Int32?, until deadline: Client.Deadline?) -> Readiness {
        while true {
            let left = deadline?.remainingUSec
            switch select(descriptor, for: left) {
            case 0: if left == 0 { return .timedOut }
            case 1...: return hasReaderLeft ? .interrupted : .readable
            default: return errno == EINTR ? .interrupted : .readable
            }
        }
    }

    /// Whether nobody reads the pipe any more.
    var hasReaderLeft: Bool {
        guard let pipe else { return false }
        var entry = pollfd(fd: pipe, events: 0, revents: 0)
        return unsafe poll(&entry, 1, 0) > 0
    }

    /// pselect(2) for so many microseconds at most, without end where nil; what is longer than a year is cut.
    private func select(_ descriptor: Int32?, for microseconds: Int64?) -> Int32 {
        // To select(2) the end to write to is readable where nobody reads the other.
        var set = descriptorSet([descriptor, pipe].compactMap(\.self))
        var mask = mask
        let count = max(descriptor ?? -1, pipe ?? -1) + 1
        let seconds = min((microseconds ?? 0) / 1_000_000, 31_536_000)
        var timeout = timespec(tv_sec: Int(seconds), tv_nsec: Int((microseconds ?? 0) % 1_000_000) * 1_000)
        return unsafe set.withUnsafeMutableBytes { bytes in
            let set = unsafe bytes.assumingMemoryBound(to: fd_set.self).baseAddress
            guard microseconds != nil else { return unsafe pselect(count, set, nil, nil, nil, &mask) }
            return unsafe pselect(count, set, nil, nil, &timeout, &mask)
        }
    }

    /// A set that holds these: as long as their numbers ask for, as the kernel knows no FD_SETSIZE.
    private func descriptorSet(_ descriptors: [Int32]) -> [UInt] {
        let last = Int(descriptors.max() ?? 0) / UInt.bitWidth
        var words = [UInt](repeating: 0, count: max(last + 1, MemoryLayout<fd_set>.size / MemoryLayout<UInt>.size))
        for descriptor in descriptors {
            words[Int(descriptor) / UInt.bitWidth] |= 1 << (UInt(descriptor) % UInt(UInt.bitWidth))
        }
        return words
    }
}
