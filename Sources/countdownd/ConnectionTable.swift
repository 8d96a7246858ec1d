import CountdownCore
import Glibc

/// All connections: found by their tokens, counted by user, and queued for the next steps of a
/// turn.
///
/// A token contains a place in the table and, in its upper half, the number of the connection that it was made for, so a
/// connection is found without a hash, and a token of a closed connection finds none.
struct ConnectionTable {
    private var places: [Connection?] = []
    private var freePlaces: [Int] = []
    private var countByUser: [uid_t: Int] = [:]
    private var tokensMade: UInt64
    /// The number of connections that are refused.
    private(set) var refused = 0

    /// Connections that may have sent calls which are not carried out yet.
    var withCalls = ConnectionQueue(.calls)
    /// Connections with a list or a watch that must deliver existing countdowns, a part in each turn.
    var withScans = ConnectionQueue(.scan)
    /// Connections with output of this turn, or that have ended in it.
    var dirty = ConnectionQueue(.output)
    /// Connections whose output of this turn has a page of a list.
    var withPages = ConnectionQueue(.page)

    /// What the connections hold together.
    let totals = ConnectionTotals()

    /// - Parameter tokensMade: how many tokens were made before.
    init(tokensMade: UInt64 = 0) { self.tokensMade = tokensMade }

    /// The number of open connections, refused ones included.
    var count: Int { places.count - freePlaces.count }
    /// The number of connections whose calls are carried out.
    var served: Int { count - refused }
    var all: some Sequence<Connection> { places.lazy.compactMap(\.self) }
    /// Whether calls or scans are left for the next turn.
    var hasQueuedWork: Bool { !withCalls.isEmpty || !withScans.isEmpty }

    subscript(_ token: UInt64) -> Connection? {
        let place = Self.place(of: token)
        guard place < places.count, let connection = places[place], connection.token == token else { return nil }
        return connection
    }

    private static func place(of token: UInt64) -> Int { Int(UInt32(truncatingIfNeeded: token)) }

    /// A token that none of the last two billion connections had, for the connection that is inserted next; it is at least 2³²,
    /// and an `Int`.
    mutating func makeToken() -> UInt64 {
        tokensMade = tokensMade % UInt64(Int32.max) + 1
        return tokensMade << 32 | UInt64(freePlaces.last ?? places.count)
    }

    /// The number of connections of one user.
    func count(of user: uid_t) -> Int { countByUser[user] ?? 0 }

    mutating func insert(_ connection: Connection) {
        if freePlaces.popLast() != nil {
            places[Self.place(of: connection.token)] = connection
        } else {
            places.append(connection)
        }
        countByUser[connection.user, default: 0] += 1
        if connection.isOverQuota { refused += 1 }
    }

    /// Removes a connection. One that is not in the table is ignored.
    mutating func remove(_ connection: Connection) {
        guard self[connection.token] != nil else { return }
        let place = Self.place(of: connection.token)
        places[place] = nil
        freePlaces.append(place)
        if connection.isOverQuota { refused -= 1 }
        let rest = count(of: connection.user) - 1
        countByUser[connection.user] = rest == 0 ? nil : rest
    }

    /// The connection with the most output that its client has not read.
    var slowest: Connection? { all.max { $0.counted.unsent < $1.counted.unsent } }

    /// The connection with the most memory for input.
    var largest: Connection? { all.max { $0.counted.received < $1.counted.received } }
}

/// Connections that are queued for a step of a turn, each once.
struct ConnectionQueue {
    private let queue: Connection.Queues
    private var entries: [Connection] = []
    /// The place of the first entry that was not taken.
    private var first = 0

    init(_ queue: Connection.Queues) { self.queue = queue }

    /// In their order.
    var all: ArraySlice<Connection> { entries[first...] }
    var count: Int { entries.count - first }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ connection: Connection) {
        guard !connection.queued.contains(queue) else { return }
        connection.queued.formUnion(queue)
        entries.append(connection)
    }

    mutating func takeFirst() -> Connection? {
        guard first < entries.count else { return nil }
        let connection = entries[first]
        connection.queued.subtract(queue)
        first += 1
        if first == entries.count {
            entries.removeAll(keepingCapacity: true)
            first = 0
        } else if first > entries.count / 2 {
            entries.removeFirst(first)
            first = 0
        }
        return connection
    }
}
