import Glibc

/// The instant by which something must have happened, so that a test fails if something hangs.
public struct Deadline: Sendable {
    /// Generous, because nothing is measured by it: only a fault gets there.
    public static let usual = Duration.seconds(120)

    private let instant: ContinuousClock.Instant

    /// A deadline this long from now.
    public init(after duration: Duration = usual) {
        instant = .now + duration
    }

    /// Whether the instant has come.
    public var hasPassed: Bool { instant <= .now }

    /// The remaining milliseconds, rounded up, as poll(2) takes them.
    var milliseconds: Int32 {
        let left = max(.zero, ContinuousClock.now.duration(to: instant))
        return Int32(clamping: Int((left / .milliseconds(1)).rounded(.up)))
    }
}

/// Something did not happen in time.
public struct TimedOut: Error, CustomStringConvertible {
    /// Names the awaited condition.
    public let description: String

    init(waitingFor what: String) {
        description = "timed out waiting for \(what)"
    }
}

/// Checks the condition again and again until it holds.
///
/// - Throws: `TimedOut` if it does not hold by the deadline.
public func waitUntil(
    _ what: String,
    by deadline: Deadline = Deadline(),
    _ condition: () throws -> Bool
) throws {
    while try !condition() {
        guard !deadline.hasPassed else { throw TimedOut(waitingFor: what) }
    }
}

/// Lets time pass, for tests that something does not happen meanwhile.
public func letPass(_ duration: Duration) {
    let end = Deadline(after: duration)
    while end.milliseconds > 0 { _ = Glibc.poll(nil, 0, end.milliseconds) }
}

/// A system call that failed.
public struct SystemCallFailure: Error, CustomStringConvertible {
    /// The name of the call.
    public let call: String
    /// The error number, see errno(3).
    public let code: Int32

    /// The failure of a call that has just set `errno`, or that returned this error number.
    public init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    /// The call and the message of strerror(3).
    public var description: String { "\(call): \(String(cString: strerror(code)))" }
}

/// Waits until one of the descriptors is ready or its peer has closed it.
///
/// - Returns: the indices of those descriptors.
func poll(
    _ descriptors: [Int32],
    for events: Int32 = POLLIN,
    until deadline: Deadline,
    waitingFor what: String
) throws -> Set<Int> {
    var entries = descriptors.map { pollfd(fd: $0, events: Int16(events), revents: 0) }
    while true {
        let ready = Glibc.poll(&entries, nfds_t(entries.count), deadline.milliseconds)
        if ready > 0 { return Set(entries.indices.filter { entries[$0].revents != 0 }) }
        if ready == 0 { throw TimedOut(waitingFor: what) }
        guard errno == EINTR else { throw SystemCallFailure("poll") }
    }
}
