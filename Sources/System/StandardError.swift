import Dispatch
import Glibc
import Synchronization

/// Standard error for programs that must not wait for its reader.
///
/// If a line does not fit, because the pipe is full or the terminal is stopped, the line is dropped and counted. The
/// number is written before the next line, or by itself as soon as there is room.
public final class StandardError: Sendable {
    /// The stream of this process.
    public static let shared = StandardError(STDERR_FILENO)

    /// How a write is kept from waiting.
    private enum Form {
        /// A file, or a device other than a terminal, which never waits for a reader.
        case file
        case socket
        /// A pipe or terminal that was opened again, because the mode of the inherited descriptor belongs to other processes, too.
        case ownDescription
        /// A pipe that cannot be opened again. If it has room, then for `PIPE_BUF` bytes.
        case polledPipe
        /// A terminal that cannot be opened again. If it has room, it may be for one byte.
        case polledTerminal
    }

    private let descriptor: Int32
    private let form: Form
    /// The lines that were dropped since the number was written last.
    private let dropped = Atomic(0)
    /// Whether only the beginning of the last line was written.
    private let isTorn = Atomic(false)
    private let isAwaitingRoom = Atomic(false)

    /// A stream to a descriptor, which stays open; with a pipe or terminal that can be opened again or not.
    package init(_ inherited: Int32, opensAgain: Bool = true) {
        (descriptor, form) = Self.open(inherited, opensAgain)
    }

    /// Writes bytes, or drops them if they do not fit.
    ///
    /// - Parameters:
    ///   - bytes: one or more lines.
    ///   - prefix: the beginning of the line with the number of dropped lines.
    public func write(_ bytes: [UInt8], noticePrefix prefix: String) {
        // Two threads at once would mix their lines on a terminal, which takes a line in parts.
        if isAwaitingRoom.load(ordering: .relaxed) {
            dropped.add(1, ordering: .relaxed)
        } else if put(bytes, prefix) == EAGAIN {
            awaitRoom(prefix)
        }
    }

    /// Writes a line, or drops it if it does not fit.
    public func write(line: String, noticePrefix prefix: String) {
        write(Array("\(line)\n".utf8), noticePrefix: prefix)
    }

    /// Writes the number of dropped lines, and the bytes after it.
    /// - Returns: the error if not everything was written.
    private func put(_ bytes: [UInt8]?, _ prefix: String) -> Int32? {
        let lost = dropped.exchange(0, ordering: .relaxed)
        var failure: Int32?
        if lost > 0 {
            let lines = lost == 1 ? "1 line was" : "\(lost) lines were"
            failure = put(Array("\(prefix)\(lines) lost, because standard error had no room\n".utf8))
            if failure != nil { dropped.add(lost, ordering: .relaxed) }
        }
        guard let bytes else { return failure }
        if failure == nil { failure = put(bytes) }
        if failure != nil { dropped.add(1, ordering: .relaxed) }
        return failure
    }

    private func put(_ bytes: [UInt8]) -> Int32? {
        let wasTorn = isTorn.exchange(false, ordering: .relaxed)
        let bytes = wasTorn ? [UInt8(ascii: "\n")] + bytes : bytes
        var sent = 0
        while sent < bytes.count {
            let count = send(bytes[sent...])
            if count <= 0 {
                if count < 0, errno == EINTR { continue }
                let failure = count < 0 ? errno : ENOSPC
                isTorn.store(wasTorn || sent > 0, ordering: .relaxed)
                // Only the line end is missing, for which a terminal needs two bytes. The next line begins with it.
                return sent > 0 && sent == bytes.count - 1 ? nil : failure
            }
            sent += count
        }
        return nil
    }

    private func send(_ bytes: ArraySlice<UInt8>) -> Int {
        var count = bytes.count
        switch form {
        case .file, .ownDescription: break
        case .socket:
            let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
            return unsafe bytes.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, count, flags) }
        case .polledPipe, .polledTerminal:
            guard poll(timeout: 0) else {
                errno = EAGAIN
                return -1
            }
            count = form == .polledPipe ? min(count, Int(PIPE_BUF)) : 1
        }
        return unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, count) }
    }

    /// Writes the number of dropped lines when there is room. A thread waits, because this works in every kind of program.
    private func awaitRoom(_ prefix: String) {
        guard isAwaitingRoom.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else {
            return
        }
        DispatchQueue.global(qos: .utility).async { [self] in
            var failure: Int32? = EAGAIN
            while failure == EAGAIN {
                _ = poll(timeout: -1)
                failure = put(nil, prefix)
                // There was room for less than a line.
                if failure == EAGAIN { usleep(100_000) }
            }
            isAwaitingRoom.store(false, ordering: .relaxed)
            if failure == nil, dropped.load(ordering: .relaxed) > 0 { awaitRoom(prefix) }
        }
    }

    /// Waits for room, or for an error, for some milliseconds or forever.
    private func poll(timeout: Int32) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe Glibc.poll(&polled, 1, timeout) > 0
    }

    private static func open(_ inherited: Int32, _ opensAgain: Bool) -> (Int32, Form) {
        var status = stat()
        guard unsafe fstat(inherited, &status) == 0 else { return (inherited, .file) }
        switch status.st_mode & S_IFMT {
        case S_IFSOCK: return (inherited, .socket)
        case S_IFIFO: break
        case S_IFCHR where isatty(inherited) == 1: break
        default: return (inherited, .file)
        }
        let polled = status.st_mode & S_IFMT == S_IFIFO ? Form.polledPipe : .polledTerminal
        guard opensAgain else { return (inherited, polled) }
        let own = unsafe Glibc.open("/proc/self/fd/\(inherited)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        return own >= 0 ? (own, .ownDescription) : (inherited, polled)
    }
}
