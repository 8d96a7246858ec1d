import CountdownCore
import Varlink

/// A call that was answered in a turn, at or after the first change of the turn.
///
/// Its reply is in the output of its connection, and nothing is sent before the turn is stored. If that fails, the changes are undone,
/// and the calls are decided again.
struct Ticket {
    /// What is asked again.
    enum Question {
        /// Nothing: a change fails.
        case change
        case countdown(Key)
        /// Boxed, because it is larger than the other cases.
        indirect case other(ClientRequest)
    }

    let connection: Connection
    /// The call with its question; nil if its reply stays, because it does not depend on countdowns.
    let asked: (call: Call, question: Question)?
    /// The place of its reply in the output.
    let reply: Range<Int>
}

/// The tickets in the steps of a turn.
extension Daemon {
    /// Lets the calls go on that wait until the turn is stored.
    func releaseHeldUp(_ turn: borrowing Turn) {
        for connection in turn.heldUp {
            connection.isHeldUp = false
            connections.enqueueCalls(of: connection)
        }
    }

    /// Decides the tickets again, in their order, after their changes were undone.
    func decideAgain(_ failure: StoreFailure, _ turn: inout Turn) {
        var rest = turn.tickets[...]
        while let first = rest.first {
            let part = rest.prefix { $0.connection === first.connection }
            release(first.connection)
            first.connection.use { decideAgain(part, failure, in: &$0, &turn) }
            // A call that waited may be answered now, so that the calls behind it can follow.
            connections.enqueueCalls(of: first.connection)
            rest = rest.dropFirst(part.count)
        }
    }

    /// Decides the tickets of a connection again, and writes their replies anew.
    private func decideAgain(
        _ tickets: ArraySlice<Ticket>,
        _ failure: StoreFailure,
        in session: inout ServerSession,
        _ turn: inout Turn
    ) {
        let start = tickets[tickets.startIndex].reply.lowerBound
        let replies = session.takeOutput(behind: start)
        for ticket in tickets {
            guard let (call, question) = ticket.asked else {
                session.append(replies[ticket.reply.lowerBound - start..<ticket.reply.upperBound - start])
                continue
            }
            session.resume(call)
            switch question {
            case .change: session.fail(translation.storageFailed(failure.reason))
            case .countdown(let key): answerGet(key, in: &session, at: turn.now)
            case .other(let request): answer(request, call, in: &session, of: ticket.connection, &turn)
            }
        }
    }
}
