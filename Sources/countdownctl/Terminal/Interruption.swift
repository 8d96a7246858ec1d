import Glibc
import IPC

/// Ctrl-C as something that is waited for along with a connection. From its making on, SIGINT no longer ends the
/// process, and none is missed that comes between two waits.
final class Interruption: Waiting {
    private let signals: SignalDescriptor
    /// A pipe whose reader may leave; nil where that is not waited for.
    private let pipe: Int32?
    private let company: (any Company)?

    /// - Parameters:
    ///   - stream: one that may be a pipe, whose reader interrupts a wait by leaving.
    ///   - company: what is looked after during a wait.
    /// - Throws: that the system has no more room.
    init(andReaderOf stream: StandardStream? = nil, with company: (any Company)? = nil) throws(Failure) {
        pipe = stream.flatMap { $0.isPipe ? $0.descriptor : nil }
        self.company = company
        signals = try SignalDescriptor(company == nil ? [SIGINT] : [SIGINT, SIGCHLD, SIGTERM, SIGHUP])
    }

    func wait(for descriptor: Int32?, until deadline: Client.Deadline?) -> Readiness {
        while true {
            var set = PollSet()
            let own = descriptor.map { set.add($0) }
            let reader = pipe.map { set.add($0) }
            let signalled = set.add(signals.descriptor)
            set.wait(until: [deadline, company?.deadline])
            if set.isReady(signalled), isInterrupted() { return .interrupted }
            if set.isReady(reader) { return .interrupted }
            company?.attend()
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
                company?.leave()
                SignalDescriptor.obey(signal)
            }
        }
        return isInterrupted
    }
}

/// What goes on in child processes beside a wait.
protocol Company: AnyObject {
    /// When something is due; nil where nothing is.
    var deadline: Client.Deadline? { get }

    /// Does what is due; a child process may have ended.
    func attend()

    /// Leaves it alone, as nobody will wait any more.
    func leave()
}
