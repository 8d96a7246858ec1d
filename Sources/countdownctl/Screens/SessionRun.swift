import IPC

extension TerminalSession {
    /// Shows the screen until it is left, with what a watch tells where there is one.
    ///
    /// - Throws: that there is no daemon, or that it refuses the watch.
    func run(watching key: String?, until deadline: Client.Deadline? = nil) throws -> CommandStatus {
        defer { close() }
        guard let key, let daemon else {
            return wait(for: nil, until: deadline) == .timedOut ? .timedOut : leavingStatus
        }
        var stream = try EventStream(Following(Selection(keys: [key])), of: daemon, interruption: self)
        while !isLeaving {
            switch try stream.next(until: deadline) {
            case .events(let events):
                for event in events { take(.told(event)) }
                serveAll()
            case .notice(let notice): take(.notice(notice))
            case .timedOut: return .timedOut
            case .interrupted: break
            }
        }
        return leavingStatus
    }
}
