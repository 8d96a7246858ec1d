import IPC

/// A request that has been sent and is to be answered.
struct Exchange: ~Copyable {
    let request: Request
    private var client: Client

    /// Connects and sends it.
    ///
    /// - Throws: that there is no daemon.
    init(_ request: Request, of daemon: Daemon) throws(Failure) {
        var client = try daemon.connect()
        do {
            switch request {
            case .get(let key): try client.start(Get(key: key))
            case .start(let start): try client.start(start)
            case .pause(let key): try client.start(Pause(key: key))
            case .resume(let key): try client.start(Resume(key: key))
            case .cancel(let key): try client.start(Cancel(key: key))
            case .adjust(let key, let amount): try client.start(Adjust(key: key, byUSec: amount))
            }
        } catch {
            throw Failure(error)
        }
        self.request = request
        self.client = client
    }

    /// Readable when the answer may be there.
    var descriptor: Int32? { client.descriptor }

    /// The answer; nil where it has not come.
    mutating func answer() -> Result<Countdown, Failure>? {
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
            return .failure(Failure(error))
        }
    }
}
