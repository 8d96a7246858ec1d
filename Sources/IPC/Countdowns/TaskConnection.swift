import Varlink

/// A connection to the daemon for one call, made by a task that does not block. Where the task is cancelled it is of no
/// more use.
final class TaskConnection {
    private var conversation: Conversation

    /// Connects to the daemon whose socket is at `path`.
    ///
    /// - Throws: that nothing could be connected to; EAGAIN: so many wait to be taken in that there is no room now.
    init(connectingTo path: String) throws(ClientError) {
        conversation = try Conversation(connectingTo: path, blocking: false)
    }

    /// Makes the call, whose replies `nextReply` takes.
    nonisolated(nonsending) func start<M: Method>(_ method: M, more: Bool = false) async throws(ClientError) {
        conversation.call(method, more: more)
        while conversation.hasUnsent, !Task.isCancelled {
            switch try conversation.send() {
            case .some: break
            case .blocked: await Readiness.writable.wait(of: conversation.descriptor)
            // It may have said why before.
            case .hungUp: return
            }
        }
    }

    /// The next reply to the call, and whether more follow; nil where the task was cancelled.
    nonisolated(nonsending) func nextReply<M: Method>(
        to method: M.Type
    ) async throws(ClientError) -> (reply: M.Reply, continues: Bool)? {
        while !Task.isCancelled {
            if let reply = try conversation.received(M.self) { return reply }
            switch try conversation.receive() {
            case .some: break
            case .blocked: await Readiness.readable.wait(of: conversation.descriptor)
            case .hungUp: throw conversation.hangup
            }
        }
        return nil
    }
}
