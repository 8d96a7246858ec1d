/// Replies that cannot be sent yet, because the reply to a call before them is missing.
struct HeldReplies {
    private enum Reply {
        /// The call has no reply yet.
        case missing(oneway: Bool)
        /// Its message, with its NUL; empty if it was sent already, or the call has `oneway`.
        case message([UInt8])
    }

    /// In the order of the calls. The first one is missing.
    private var replies: [Reply] = []
    /// The number of the first one.
    private var first = 0

    var isEmpty: Bool { replies.isEmpty }

    /// Holds all replies from now on until this one is there.
    ///
    /// - Returns: its number.
    mutating func hold(oneway: Bool) -> Int {
        replies.append(.missing(oneway: oneway))
        return first + replies.count - 1
    }

    /// Appends a reply.
    mutating func append(_ message: (inout OutputBuffer) -> Void) {
        replies.append(.message(Self.bytes(of: message)))
    }

    /// Writes a reply that was missing. If it is the first one, it goes to the output with all those that waited for it.
    mutating func answer(_ number: Int, into output: inout OutputBuffer, _ message: (inout OutputBuffer) -> Void) {
        let index = number - first
        guard replies.indices.contains(index), case .missing(let oneway) = replies[index] else {
            preconditionFailure("a postponed call is answered once")
        }
        guard index == 0 else {
            replies[index] = .message(oneway ? [] : Self.bytes(of: message))
            return
        }
        if !oneway { message(&output) }
        replies[0] = .message([])
        var sent = 0
        while sent < replies.count, case .message(let bytes) = replies[sent] {
            output.append(bytes)
            sent += 1
        }
        replies.removeFirst(sent)
        first += sent
    }

    private static func bytes(of message: (inout OutputBuffer) -> Void) -> [UInt8] {
        var output = OutputBuffer()
        message(&output)
        return output.bytes
    }
}
