import CountdownCore
import Varlink

/// The calls of a turn from its first change on.
///
/// Their replies are written into the output of their connections, and nothing is sent before the turn is stored. If that fails, the
/// changes are undone, the calls are decided again, and the output of these connections is written anew.
struct Tickets: ~Copyable {
    /// What is asked again if the turn cannot be stored.
    enum Question {
        /// Nothing: a change fails.
        case change
        case countdown(Key)
        /// Boxed, because it is larger than the other cases.
        indirect case other(ClientRequest)
    }

    struct Ticket {
        /// The call with its question; nil if its reply stays, because it does not depend on countdowns.
        let asked: (call: Call, question: Question)?
        /// The end of its reply in the output.
        let end: Int
    }

    /// The tickets of a connection.
    struct Part {
        let connection: Connection
        /// The end of the output before the replies to its tickets.
        let start: Int
        /// The index behind its last ticket.
        let end: Int
    }

    /// How many are kept in memory from turn to turn.
    private static let kept = 1_024

    private(set) var tickets: [Ticket] = []
    private(set) var parts: [Part] = []
    /// Whether the calls of a connection get tickets now, and the end of its output before their replies.
    private(set) var isOpen = false
    private var start = 0

    /// Lets the calls of a connection have tickets from now on.
    mutating func open(_ start: Int) {
        if !isOpen { (isOpen, self.start) = (true, start) }
    }

    /// Adds the ticket of a call that was answered, if it gets one; `end` is the end of the output.
    @inline(__always)
    mutating func add(_ call: Call, _ question: @autoclosure () -> Question, end: Int) {
        guard isOpen else { return }
        tickets.append(Ticket(asked: (call, question()), end: end))
    }

    /// Adds the ticket of a call whose reply stays.
    mutating func addFixed(end: Int) {
        guard isOpen else { return }
        tickets.append(Ticket(asked: nil, end: end))
    }

    /// Ends the tickets of a connection.
    mutating func close(_ connection: Connection) {
        guard isOpen else { return }
        isOpen = false
        // A connection in whose watch another call waits has none.
        guard tickets.count > parts.last?.end ?? 0 else { return }
        parts.append(Part(connection: connection, start: start, end: tickets.count))
    }

    /// Removes all tickets.
    mutating func removeAll() {
        guard !parts.isEmpty else { return }
        tickets.removeAll(keepingCapacity: tickets.count <= Self.kept)
        parts.removeAll(keepingCapacity: parts.count <= Self.kept)
    }
}

/// The tickets in the steps of a turn.
extension Daemon {
    /// Ends the tickets: their replies are true now.
    func releaseTickets(_ turn: inout Turn) {
        for part in turn.tickets.parts where part.connection.isHeldUp {
            part.connection.isHeldUp = false
            connections.enqueueCalls(of: part.connection)
        }
        turn.tickets.removeAll()
    }

    /// Decides the tickets again, in their order, after their changes were undone.
    func decideAgain(_ failure: StoreFailure, _ turn: inout Turn) {
        var undone = Tickets()
        swap(&undone, &turn.tickets)
        var first = 0
        for part in undone.parts {
            let connection = part.connection
            release(connection)
            connection.use { session in
                let output = session.takeOutput(behind: part.start)
                var start = part.start
                for ticket in undone.tickets[first..<part.end] {
                    if let (call, question) = ticket.asked {
                        session.resume(call)
                        answer(question, call, failure, in: &session, of: connection, &turn)
                    } else {
                        session.append(output, start..<ticket.end)
                    }
                    start = ticket.end
                }
            }
            first = part.end
            connection.isHeldUp = false
            // A call that waited may be answered now, so that the calls behind it can follow.
            connections.enqueueCalls(of: connection)
        }
    }

    private func answer(
        _ question: Tickets.Question,
        _ call: Call,
        _ failure: StoreFailure,
        in session: inout ServerSession,
        of connection: Connection,
        _ turn: inout Turn
    ) {
        switch question {
        case .change: session.fail(translation.storageFailed(failure.reason))
        case .countdown(let key): answerGet(key, in: &session, at: turn.now)
        case .other(let request): answer(request, call, in: &session, of: connection, &turn)
        }
    }
}
