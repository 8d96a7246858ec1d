import CountdownCore
import Varlink

/// The calls of a connection that wait for the engine of a fleet, in their order, and between them the replies to later calls.
struct SharedCalls {
    struct SharedCall {
        /// The number under which the member knows it.
        let number: Int
        let call: Call
        let request: Request
        /// Whether it is the one cooldown of a `StartAll`.
        let isStartAll: Bool
    }

    private enum Entry {
        case waiting(SharedCall)
        /// Replies that wait for those before them.
        case written([UInt8])
    }

    /// The greatest number of calls of one connection that wait: as many as one message to the bridge takes.
    private static let most = 64

    /// The first one is a call that waits.
    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }
    /// Whether no further call may be added.
    var isFull: Bool { entries.count >= Self.most }
    /// The calls that wait.
    var waiting: [SharedCall] {
        entries.compactMap { entry in
            guard case .waiting(let call) = entry else { return nil }
            return call
        }
    }

    /// Adds the call that is in progress, without a reply. The next call can follow.
    mutating func add(_ call: SharedCall, in session: inout ServerSession) {
        session.suspend()
        entries.append(.waiting(call))
    }

    /// Takes the replies behind a length of the output, if they must wait for replies before it.
    mutating func hold(behind length: Int, in session: inout ServerSession) {
        guard !entries.isEmpty else { return }
        entries.append(.written(session.takeOutput(behind: length)))
    }

    /// Answers a call that waits: the body writes the reply.
    mutating func answer(
        _ number: Int,
        in session: inout ServerSession,
        _ reply: (SharedCall, inout ServerSession) -> Void
    ) {
        for (index, entry) in entries.enumerated() {
            guard case .waiting(let call) = entry, call.number == number else { continue }
            let length = session.outputLength
            session.resume(call.call)
            reply(call, &session)
            entries[index] = .written(index == 0 ? [] : session.takeOutput(behind: length))
            return release(in: &session)
        }
    }

    /// Writes the replies that wait for no call any more.
    private mutating func release(in session: inout ServerSession) {
        while case .written(let bytes) = entries.first {
            session.append(bytes[...])
            entries.removeFirst()
        }
    }
}
