import CLinux
import Glibc
import IPC
import System

/// How a verb waits for its connection, and what else may come meanwhile.
protocol Waiter {
    /// Waits until the descriptor, where there is one, can be read, the deadline passes, or somebody wants to leave.
    func wait(for descriptor: Int32?, until deadline: Client.Deadline?) -> WaitResult

    /// The code to exit with once somebody wants to leave.
    var leavingStatus: ExitCode { get }
}

/// What a wait came to.
enum WaitResult: Equatable {
    /// There is something to read, be it the end.
    case readable
    case timedOut
    /// Somebody wants to leave.
    case interrupted
}

extension Waiter {
    /// Waits until the deadline.
    func wait(until deadline: Client.Deadline?) -> WaitResult { wait(for: nil, until: deadline) }

    /// Waits without end for a descriptor.
    func wait(for descriptor: Int32?) -> WaitResult { wait(for: descriptor, until: nil) }

    var leavingStatus: ExitCode { .interrupted }
}

/// Ctrl-C as something that is waited for along with a connection. From its making on, SIGINT no longer ends the
/// process, and none is missed that comes between two waits.
final class Interruption: Waiter {
    private let signals: SignalDescriptor
    /// A pipe whose reader may leave; nil where that is not waited for.
    private let pipe: Int32?
    private let background: (any BackgroundWork)?

    /// - Parameters:
    ///   - stream: one that may be a pipe, whose reader interrupts a wait by leaving.
    ///   - background: what is looked after during a wait.
    /// - Throws: that the system has no more room.
    init(andReaderOf stream: StandardStream? = nil, with background: (any BackgroundWork)? = nil) throws(CommandFailure)
    {
        pipe = stream.flatMap { $0.isPipe ? $0.descriptor : nil }
        self.background = background
        signals = try SignalDescriptor(background == nil ? [SIGINT] : [SIGINT, SIGCHLD, SIGTERM, SIGHUP])
    }

    func wait(for descriptor: Int32?, until deadline: Client.Deadline?) -> WaitResult {
        while true {
            var set = PollSet()
            let own = descriptor.map { set.add($0) }
            let reader = pipe.map { set.add($0) }
            let signalled = set.add(signals.descriptor)
            set.wait(until: [deadline, background?.deadline])
            if set.isReady(signalled), isInterrupted() { return .interrupted }
            if set.isReady(reader) { return .interrupted }
            background?.advance()
            if set.isReady(own) { return .readable }
            if deadline?.remainingUSec == 0 { return .timedOut }
        }
    }

    /// Whether nobody reads the pipe any more.
    var hasReaderLeft: Bool {
        guard let pipe else { return false }
        // The end to write to is never readable where somebody reads the other.
        var set = PollSet()
        let place = set.add(pipe)
        set.wait(until: [.passed])
        return set.isReady(place)
    }

    private func isInterrupted() -> Bool {
        var isInterrupted = false
        while let signal = signals.next() {
            switch signal {
            case SIGINT: isInterrupted = true
            case SIGCHLD: break
            default:
                background?.terminate()
                SignalDescriptor.obey(signal)
            }
        }
        return isInterrupted
    }
}

/// What goes on in child processes beside a wait.
protocol BackgroundWork: AnyObject {
    /// When something is due; nil where nothing is.
    var deadline: Client.Deadline? { get }

    /// Does what is due; a child process may have ended.
    func advance()

    /// Leaves it alone, as nobody will wait any more.
    func terminate()
}

/// Signals as something that is polled for. From its making on they no longer do what they do by themselves.
struct SignalDescriptor: ~Copyable {
    let descriptor: Int32

    /// Takes these signals, but those that this program was started to ignore.
    ///
    /// - Throws: that the system has no more room.
    init(_ signals: [Int32]) throws(CommandFailure) {
        // Where it is ignored, a process that has ended leaves no word of it.
        if signals.contains(SIGCHLD) { signal(SIGCHLD, SIG_DFL) }
        descriptor = unsafe signals.withUnsafeBufferPointer {
            unsafe linux_signal_descriptor_of($0.baseAddress, Int32($0.count))
        }
        guard descriptor >= 0 else {
            throw CommandFailure(.internalFault, "cannot wait for signals: \(systemMessage(errno))")
        }
    }

    deinit {
        close(descriptor)
    }

    /// The next one that came; nil where there is none.
    func next() -> Int32? {
        let signal = linux_next_signal(descriptor)
        return signal > 0 ? signal : nil
    }

    /// Lets a signal do what it does by itself: stop the process, or end it, so that whoever started it sees by what.
    static func obey(_ number: Int32) {
        // Swift's own handlers of crashes have more to say than anybody wants to know here.
        signal(number, SIG_DFL)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, number)
        raise(number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

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
