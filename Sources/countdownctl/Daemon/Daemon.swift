import Glibc
import IPC
import System
import Varlink

/// The daemon that this user's commands are for.
struct DaemonEndpoint: Sendable {
    /// How long a call that is answered at once waits for its answer, in microseconds: as long as D-Bus and systemctl(1) wait.
    /// A daemon that opens a large store, or whose disk has to spin up first, answers before; one that is stopped never does.
    static let patience: Int64 = 25_000_000

    /// The same as a duration.
    private static let timeout = Duration.microseconds(patience)

    let path: String

    /// The one that the environment names.
    init() throws(CommandFailure) {
        do {
            path = try Address.forClient().path
        } catch {
            throw CommandFailure(error)
        }
    }

    /// One at a path.
    init(path: String) { self.path = path }

    func connect() throws(CommandFailure) -> Client {
        do {
            return try Client(at: path, timeout: Self.timeout)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Connects, makes one call and returns its answer.
    func call<M: Method>(_ method: M) throws(CommandFailure) -> M.Reply {
        try ask(isRead: M.isRead) { client throws(ClientError) in try client.call(method) }
    }

    /// The countdown of a key; nil if the daemon knows none.
    func countdown(of key: String) throws(CommandFailure) -> Countdown? {
        do {
            return try call(Get(key: key)).countdown
        } catch {
            guard error.exitCode == .unknownKey else { throw error }
            return nil
        }
    }

    /// Connects, and returns the result of calls; `isRead` if they change nothing.
    func ask<Found>(
        isRead: Bool = true,
        _ calls: (inout Client) throws(ClientError) -> Found
    ) throws(CommandFailure) -> Found {
        var client = try connect()
        do {
            return try calls(&client)
        } catch {
            throw CommandFailure(error, isRead: isRead)
        }
    }

    /// Connects, and sends a request.
    func send(_ request: CountdownRequest) throws(ClientError) -> PendingCall<Countdown> {
        try PendingCall(request, at: path, timeout: Self.timeout)
    }

    /// Connects, makes one call and returns its reply; nil if the user interrupted the wait.
    func call<M: Method>(_ method: M, unless interruption: any Waiter) throws(CommandFailure) -> M.Reply? {
        var client = try connect()
        switch try client.call(method, until: .after(microseconds: Self.patience), unless: interruption) {
        case .received(let reply): return reply
        case .timedOut: throw CommandFailure(.failed(errno: ETIMEDOUT), isRead: M.isRead)
        case .interrupted: return nil
        }
    }
}

extension Method {
    /// Whether the method changes nothing.
    fileprivate static var isRead: Bool { [Get.name, List.name, GetStatus.name].contains(name) }
}

/// How the wait for a reply ended.
enum AwaitedReply<Reply> {
    case received(Reply)
    case timedOut
    case interrupted
}

extension Client {
    /// Makes a call and waits for its reply, until the deadline or the interruption.
    mutating func call<M: Method>(
        _ method: M,
        until deadline: MonotonicDeadline? = nil,
        unless interruption: any Waiter
    ) throws(CommandFailure) -> AwaitedReply<M.Reply> {
        do {
            try start(method)
            while true {
                if let (reply, _) = try nextReply(to: M.self, until: .passed) { return .received(reply) }
                switch interruption.wait(for: descriptor, until: deadline) {
                case .readable: break
                case .timedOut: return .timedOut
                case .interrupted: return .interrupted
                }
            }
        } catch {
            throw CommandFailure(error, isRead: M.isRead)
        }
    }
}
