import CountdownCore
import Glibc

/// All connections: found by their tokens, counted against the quotas that they share, and queued for the next steps of a
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

    /// The bytes of output that the clients have not read yet, of all connections together.
    private(set) var unsentBytes = 0
    /// The most that `unsentBytes` ever was.
    private(set) var mostUnsentBytes = 0
    /// The memory for input that is not carried out yet, of all connections together.
    private(set) var receivedBytes = 0
    /// The bytes of the requests of all watches and lists in progress.
    private(set) var requestBytes = 0

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

    /// Removes a connection with all that was counted for it. A connection that is not in the table is ignored.
    mutating func remove(_ connection: Connection) {
        guard self[connection.token] != nil else { return }
        unsentBytes -= connection.countedUnsent
        receivedBytes -= connection.countedReceived
        (connection.countedUnsent, connection.countedReceived) = (0, 0)
        releaseRequest(of: connection)
        let place = Self.place(of: connection.token)
        places[place] = nil
        freePlaces.append(place)
        if connection.isOverQuota { refused -= 1 }
        let rest = count(of: connection.user) - 1
        countByUser[connection.user] = rest == 0 ? nil : rest
    }

    // MARK: Quotas

    /// Counts the output of a connection as it is now.
    mutating func countUnsent(of connection: Connection) {
        unsentBytes += connection.buffers.unsent - connection.countedUnsent
        connection.countedUnsent = connection.buffers.unsent
        mostUnsentBytes = max(mostUnsentBytes, unsentBytes)
    }

    /// Counts the memory for input of a connection as it is now, and for its queued start.
    mutating func countReceived(of connection: Connection) {
        let capacity = connection.condition == .gone ? 0 : connection.buffers.inputCapacity + connection.queuedBytes
        receivedBytes += capacity - connection.countedReceived
        connection.countedReceived = capacity
    }

    /// Counts bytes that a watch or list takes until its request is released.
    /// - Returns: whether there was room below the limit; if not, nothing is counted.
    mutating func reserve(_ bytes: Int, for connection: Connection, limit: Int) -> Bool {
        guard bytes == 0 || requestBytes + bytes <= limit else { return false }
        requestBytes += bytes
        connection.countedRequest += bytes
        return true
    }

    mutating func releaseRequest(of connection: Connection) {
        requestBytes -= connection.countedRequest
        connection.countedRequest = 0
    }

    /// The connection with the most output that its client has not read.
    var slowest: Connection? { all.max { $0.countedUnsent < $1.countedUnsent } }

    /// The connection with the most memory for input.
    var largest: Connection? { all.max { $0.countedReceived < $1.countedReceived } }
}

/// Connections that are queued for a step of a turn, each once.
struct ConnectionQueue {
    private let queue: Connection.Queues
    private(set) var all: [Connection] = []

    init(_ queue: Connection.Queues) { self.queue = queue }

    var isEmpty: Bool { all.isEmpty }

    mutating func append(_ connection: Connection) {
        guard !connection.queued.contains(queue) else { return }
        connection.queued.formUnion(queue)
        all.append(connection)
    }

    /// Empties the queue. Each connection is `queued` until it is served.
    mutating func take() -> [Connection] {
        let taken = all
        all = []
        all.reserveCapacity(taken.count)
        return taken
    }

    /// Puts connections that were not served back, in front of those that were, so that each is served in the end.
    mutating func putBack(_ rest: ArraySlice<Connection>) { all = rest + all }
}
