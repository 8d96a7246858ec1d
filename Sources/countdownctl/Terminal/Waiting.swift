import IPC

/// How a verb waits for its connection, and what else may come meanwhile.
protocol Waiting {
    /// Waits until the descriptor, where there is one, can be read, the deadline passes, or somebody wants to leave.
    func wait(for descriptor: Int32?, until deadline: Client.Deadline?) -> Readiness

    /// The code to exit with once somebody wants to leave.
    var leavingStatus: CommandStatus { get }
}

/// What a wait came to.
enum Readiness: Equatable {
    /// There is something to read, be it the end.
    case readable
    case timedOut
    /// Somebody wants to leave.
    case interrupted
}

extension Waiting {
    /// Waits until the deadline.
    func wait(until deadline: Client.Deadline?) -> Readiness { wait(for: nil, until: deadline) }

    /// Waits without end for a descriptor.
    func wait(for descriptor: Int32?) -> Readiness { wait(for: descriptor, until: nil) }

    var leavingStatus: CommandStatus { .interrupted }
}
