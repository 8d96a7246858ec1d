import Glibc
import IPC
import System

/// How a subcommand waits for its connection and for other events.
protocol Waiter {
    /// Waits until the descriptor is readable, the deadline passes, or the user interrupts.
    func wait(for descriptor: Int32?, until deadline: MonotonicDeadline?) -> WaitResult

    /// The exit code after an interruption.
    var leavingStatus: ExitCode { get }
}

enum WaitResult: Equatable {
    /// There is something to read, be it the end.
    case readable
    case timedOut
    /// The user interrupted the wait, or the reader of a pipe left.
    case interrupted
}

extension Waiter {
    func wait(until deadline: MonotonicDeadline?) -> WaitResult { wait(for: nil, until: deadline) }

    var leavingStatus: ExitCode { .interrupted }
}

/// Ctrl-C as something that is waited for along with a connection. From its making on, SIGINT no longer ends the
/// process, and none is missed that comes between two waits.
final class Interruption: Waiter {
    private let signals: SignalDescriptor
    /// A pipe that ends the wait when its reader closes it; nil for none.
    private let pipe: Int32?
    private let background: (any BackgroundWork)?

    /// If the stream is a pipe whose reader closes it, that interrupts a wait; background processes are supervised
    /// during it.
    init(andReaderOf stream: StandardStream? = nil, with background: (any BackgroundWork)? = nil) throws(CommandFailure)
    {
        pipe = stream.flatMap { $0.isPipe ? $0.descriptor : nil }
        self.background = background
        signals = try SignalDescriptor(
            reading: background == nil ? [SIGINT] : [SIGINT, SIGCHLD, SIGTERM, SIGHUP, SIGQUIT]
        )
    }

    func wait(for descriptor: Int32?, until deadline: MonotonicDeadline?) -> WaitResult {
        while true {
            var set = PollSet()
            let wasFull = background?.isFull ?? false
            let own = descriptor.map { set.add($0) }
            if let timer = background?.descriptor { set.add(timer) }
            let reader = pipe.map { set.add($0) }
            let signalled = set.add(signals.descriptor)
            set.add(deadline)
            set.add(background?.deadline)
            set.wait()
            if set.isReady(signalled), isInterrupted() { return .interrupted }
            if set.isReady(reader) { return .interrupted }
            background?.advance()
            if set.isReady(own) || wasFull && background?.isFull == false { return .readable }
            if deadline?.remainingUSec == 0 { return .timedOut }
        }
    }

    var hasReaderLeft: Bool {
        guard let pipe else { return false }
        // The writing end becomes readable only after the reading end was closed.
        var set = PollSet()
        let place = set.add(pipe)
        set.add(.passed)
        set.wait()
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
                obeySignal(signal)
            }
        }
        return isInterrupted
    }
}

/// Child processes that are supervised during a wait.
protocol BackgroundWork: AnyObject {
    /// The next deadline; nil if no child process has one.
    var deadline: MonotonicDeadline? { get }

    /// Becomes readable when `advance` has to be called; nil if only deadlines and ended processes need it.
    var descriptor: Int32? { get }

    /// Whether it takes no more events. A wait returns when it takes some again.
    var isFull: Bool { get }

    /// Reaps ended processes and handles deadlines that have passed.
    func advance()

    /// Terminates the processes, because no wait follows.
    func terminate()
}

extension SignalDescriptor {
    init(reading signals: [Int32]) throws(CommandFailure) {
        do {
            try self.init(signals)
        } catch {
            throw CommandFailure(.internalFault, "cannot wait for signals: \(error)")
        }
    }
}

/// Lets a signal have its default effect, so that the parent process sees it.
func obeySignal(_ number: Int32) {
    // Without Swift's crash handler, which would print a backtrace.
    signal(number, SIG_DFL)
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, number)
    raise(number)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
}

/// Restores the signals that are blocked now after the body, for commands that are started later.
func keepingSignalMask<Result>(_ body: () throws(CommandFailure) -> Result) throws(CommandFailure) -> Result {
    var mask = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &mask, nil) }
    return try body()
}
