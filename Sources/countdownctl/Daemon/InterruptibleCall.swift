import IPC

extension Daemon {
    /// Connects, makes one call and returns its answer; nil where somebody left before it came.
    func call<M: Method>(_ method: M, unless interruption: any Waiting) throws(Failure) -> M.Reply? {
        var client = try connect()
        do {
            try client.start(method)
            while true {
                if let reply = try client.nextReply(to: M.self, until: .passed) { return reply.reply }
                if interruption.wait(for: client.descriptor) == .interrupted { return nil }
            }
        } catch {
            throw Failure(error)
        }
    }
}
