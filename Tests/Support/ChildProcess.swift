import CProcess
import Foundation
import Glibc

/// A process that a test started: reaped once, and killed if the test releases it before its end.
public final class ChildProcess {
    /// How a process ended.
    public enum Ending: Equatable, Sendable {
        case exited(code: Int32)
        case killed(signal: Int32)
    }

    /// The process identifier.
    public let identifier: pid_t

    /// Readable once the process has ended.
    let ended: Int32
    private var ending: Ending?

    /// Starts an executable with these descriptors as its first ones, from standard input on, and no others.
    public init(
        _ executable: String,
        arguments: [String],
        environment: [String: String],
        descriptors: [Int32]
    ) throws {
        identifier = try spawn(executable, arguments, environment, descriptors)
        ended = process_descriptor(identifier)
        guard ended >= 0 else { throw SystemCallFailure("pidfd_open") }
    }

    deinit {
        if ending == nil {
            Glibc.kill(identifier, SIGKILL)
            waitpid(identifier, nil, 0)
        }
        close(ended)
    }

    /// Sends a signal, unless the process has been reaped.
    public func send(signal: Int32) {
        if ending == nil { Glibc.kill(identifier, signal) }
    }

    /// Sends SIGSTOP, and waits until every thread has stopped.
    public func stop() throws {
        send(signal: SIGSTOP)
        try waitUntil("process \(identifier) to stop") {
            let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/task")
            return try threads.allSatisfy { thread in
                let status = try String(contentsOfFile: "/proc/\(identifier)/task/\(thread)/stat", encoding: .utf8)
                // The state follows the name, which is in parentheses and may contain any character.
                return status.drop { $0 != ")" }.split(separator: ")").last?.hasPrefix(" T") == true
            }
        }
    }

    /// Sets how many descriptors the process may have from now on.
    public func limitDescriptors(to count: UInt) throws {
        guard process_limit_descriptors(identifier, count) == 0 else { throw SystemCallFailure("prlimit") }
    }

    /// Lets each write to a file fail from now on, or none.
    public func setWritesFail(_ fail: Bool) throws {
        guard process_limit_file_size(identifier, fail ? 0 : .max) == 0 else { throw SystemCallFailure("prlimit") }
    }

    /// Whether the process has not ended.
    public var isRunning: Bool {
        var entry = pollfd(fd: ended, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 0
    }

    /// Waits for the process to end by itself.
    @discardableResult
    public func wait(until deadline: Deadline = Deadline()) throws -> Ending {
        if let ending { return ending }
        _ = try poll([ended], until: deadline, waitingFor: "process \(identifier) to end")
        var status: Int32 = 0
        guard waitpid(identifier, &status, 0) == identifier else { throw SystemCallFailure("waitpid") }
        let signal = status & 0x7f
        let ending = signal == 0 ? Ending.exited(code: (status >> 8) & 0xff) : .killed(signal: signal)
        self.ending = ending
        return ending
    }
}

private func spawn(
    _ executable: String,
    _ arguments: [String],
    _ environment: [String: String],
    _ descriptors: [Int32]
) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // The descriptors are first copied out of the range of their new numbers, so that none replaces another.
    let copies = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, 100) }
    defer { for copy in copies { close(copy) } }
    for (place, copy) in copies.enumerated() {
        posix_spawn_file_actions_adddup2(&actions, copy, Int32(place))
    }
    posix_spawn_file_actions_addclosefrom_np(&actions, Int32(descriptors.count))

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    let words = ([executable] + arguments).map { strdup($0) } + [nil]
    let variables =
        environment.merging(Sanitizers.options) { given, _ in given }
        .map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for string in words + variables { free(string) } }
    var identifier: pid_t = 0
    let code = posix_spawn(&identifier, executable, &actions, &attributes, words, variables)
    guard code == 0 else { throw SystemCallFailure("posix_spawn of \(executable)", code: code) }
    return identifier
}

/// Lets this process and its children have this many descriptors, as far as it may.
@discardableResult
public func raiseDescriptorLimit(to count: rlim_t) throws -> rlim_t {
    let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(descriptors, &limit) == 0 else { throw SystemCallFailure("getrlimit") }
    guard limit.rlim_cur < count else { return limit.rlim_cur }
    limit.rlim_cur = min(count, limit.rlim_max)
    guard setrlimit(descriptors, &limit) == 0 else { throw SystemCallFailure("setrlimit") }
    return limit.rlim_cur
}
