import Glibc

extension TaskConnection {
    /// Connects to the daemon whose socket is at `path`, once it has room; nil where the task was cancelled.
    nonisolated(nonsending) static func toDaemon(at path: String) async throws(ClientError) -> TaskConnection? {
        var attempt = 0
        while !Task.isCancelled {
            do {
                return try TaskConnection(connectingTo: path)
            } catch .unreachable(_, EAGAIN) {
                attempt += 1
                await Reconnection.rest(microseconds: Reconnection.pause(before: attempt))
            }
        }
        return nil
    }
}

extension Reconnection {
    /// Lets time pass; returns as soon as the task is cancelled.
    nonisolated(nonsending) static func rest(microseconds: Int64) async {
        guard microseconds > 0 else { return }
        try? await Task.sleep(for: .microseconds(microseconds))
    }
}
