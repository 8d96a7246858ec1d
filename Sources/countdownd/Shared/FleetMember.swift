import Backend
import CountdownCore
import Fleet
import Varlink

/// What a daemon has besides if its countdowns are shared by a fleet: the shard, the link to its bridge, and the calls of clients
/// that wait for the engine.
struct FleetMember: ~Copyable {
    /// A call with a postponed reply.
    struct WaitingCall {
        let connection: Connection
        /// The number of the reply in its session.
        let reply: Int
        let call: Call
        let key: Key
    }

    /// The greatest number of calls of one connection that wait: as many as one message to the bridge takes.
    static let callsOfConnection = 64

    var shard: Shard
    var link: BackendLink
    /// By the numbers under which the shard knows them.
    var waiting: [Int: WaitingCall] = [:]
    private var lastNumber = 0
    /// The position that was stored last.
    var storedPosition: LogCursor.Position?
    /// Whether a line of the log has said that the system clock differs from the engine's.
    var hasWarnedOfClock = false

    /// A member with an open store.
    init(link: BackendLink, shard: Shard) {
        self.link = link
        self.shard = shard
        storedPosition = shard.cursor.stored ?? shard.cursor.position
    }

    /// When something is due even if nothing happens.
    func next(at now: Now) -> WallInstant? { earliest(shard.next(at: now), link.next.map(now.wall(of:))) }

    /// Notes a call with a postponed reply.
    ///
    /// - Returns: its number.
    mutating func wait(_ call: WaitingCall) -> Int {
        lastNumber += 1
        waiting[lastNumber] = call
        return lastNumber
    }
}

extension Options {
    /// What a daemon does while the engine of its fleet cannot be reached.
    enum WithoutBackend: String, CaseIterable {
        /// It answers what changes nothing from the countdowns that it knows.
        case serve
        /// It refuses everything but a watch.
        case refuse
    }
}
