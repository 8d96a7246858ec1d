import IPC
import System

/// The daemon that this user's commands are for.
struct DaemonEndpoint: Sendable {
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
            return try Client(connectingTo: path)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Connects, makes one call and returns its answer.
    func call<M: Method>(_ method: M) throws(CommandFailure) -> M.Reply {
        var client = try connect()
        do {
            return try client.call(method)
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension DaemonEndpoint {
    /// Connects, makes one call and returns its reply; nil if the user interrupted the wait.
    func call<M: Method>(_ method: M, unless interruption: any Waiter) throws(CommandFailure) -> M.Reply? {
        var client = try connect()
        do {
            try client.start(method)
            while true {
                if let reply = try client.nextReply(to: M.self, until: .passed) { return reply.reply }
                if interruption.wait(for: client.descriptor) == .interrupted { return nil }
            }
        } catch {
            throw CommandFailure(error)
        }
    }
}

/// How a wait in the queue of a key ended.
enum QueueResult {
    case started(Start.Reply)
    case timedOut
    /// Ctrl-C.
    case interrupted
}

extension DaemonEndpoint {
    /// Makes a start with `ifRunning: wait`, and waits for its turn. If the daemon is restarted, it queues again.
    ///
    /// - Parameters:
    ///   - start: the call.
    ///   - timeout: microseconds; nil for no timeout.
    ///   - output: for a message if the daemon is away.
    /// - Returns: the reply, or why there is none.
    /// - Throws: if there is no daemon, or it refuses.
    func queue(_ start: Start, timeout: Int64?, output: Output) throws(CommandFailure) -> QueueResult {
        let deadline = timeout.map(Client.Deadline.after)
        let interruption = try Interruption()
        var client = try connect()
        var attempts = 0
        while true {
            do {
                return try turn(of: start, on: &client, until: deadline, unless: interruption)
            } catch {
                guard error.exitCode == .unavailable else { throw error }
            }
            if attempts == 0 { output.say(EventStream.Notice.lostSentence) }
            repeat {
                attempts += 1
                let pause = Client.Deadline.after(microseconds: Backoff.delay(before: attempts))
                if interruption.wait(until: min(pause, deadline ?? pause)) == .interrupted { return .interrupted }
                if deadline?.hasPassed == true { return .timedOut }
            } while try !reconnect(&client)
        }
    }

    /// False if the daemon is still away.
    private func reconnect(_ client: inout Client) throws(CommandFailure) -> Bool {
        do {
            client = try connect()
            return true
        } catch {
            guard error.exitCode == .unavailable else { throw error }
            return false
        }
    }

    private func turn(
        of start: Start,
        on client: inout Client,
        until deadline: Client.Deadline?,
        unless interruption: any Waiter
    ) throws(CommandFailure) -> QueueResult {
        do {
            try client.start(start)
            while true {
                if let (reply, _) = try client.nextReply(to: Start.self, until: .passed) { return .started(reply) }
                switch interruption.wait(for: client.descriptor, until: deadline) {
                case .readable: break
                case .timedOut: return .timedOut
                case .interrupted: return .interrupted
                }
            }
        } catch {
            throw CommandFailure(error)
        }
    }
}

/// A request that has been sent and is to be answered.
struct PendingRequest: ~Copyable {
    let request: CountdownRequest
    private var client: Client

    /// Connects and sends it.
    ///
    /// - Throws: if there is no daemon.
    init(_ request: CountdownRequest, of daemon: DaemonEndpoint) throws(CommandFailure) {
        var client = try daemon.connect()
        do {
            switch request {
            case .get(let key): try client.start(Get(key: key))
            case .start(let start): try client.start(start)
            case .pause(let key): try client.start(Pause(key: key))
            case .resume(let key): try client.start(Resume(key: key))
            case .cancel(let key, let revision): try client.start(Cancel(key: key, ifRevision: revision))
            case .adjust(let key, let amount, let revision):
                try client.start(Adjust(key: key, byUSec: amount, ifRevision: revision))
            }
        } catch {
            throw CommandFailure(error)
        }
        self.request = request
        self.client = client
    }

    /// Readable when the answer may be there.
    var descriptor: Int32? { client.descriptor }

    /// The reply; nil if it has not arrived.
    mutating func answer() -> Result<Countdown, CommandFailure>? {
        do {
            let answer =
                switch request {
                case .get: try client.nextReply(to: Get.self, until: .passed)?.reply.countdown
                case .start: try client.nextReply(to: Start.self, until: .passed)?.reply.countdown
                case .pause: try client.nextReply(to: Pause.self, until: .passed)?.reply.countdown
                case .resume: try client.nextReply(to: Resume.self, until: .passed)?.reply.countdown
                case .cancel: try client.nextReply(to: Cancel.self, until: .passed)?.reply.countdown
                case .adjust: try client.nextReply(to: Adjust.self, until: .passed)?.reply.countdown
                }
            return answer.map { .success($0) }
        } catch {
            return .failure(CommandFailure(error))
        }
    }
}

/// A call of the daemon whose answer is a countdown.
enum CountdownRequest: Equatable {
    case get(key: String)
    case start(Start)
    case pause(key: String)
    case resume(key: String)
    case cancel(key: String, ifRevision: Int64? = nil)
    /// Adds microseconds, or takes them.
    case adjust(key: String, by: Int64, ifRevision: Int64? = nil)

    var key: String {
        switch self {
        case .get(let key), .pause(let key), .resume(let key), .cancel(let key, _), .adjust(let key, _, _): key
        case .start(let start): start.key
        }
    }
}
