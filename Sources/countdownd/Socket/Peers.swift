import Glibc

/// The connections, found by the token that the poller tells.
///
/// A token names a place, and in its upper half the connection that it was made for, so that one is found without a hash.
struct Peers {
    private var places: [Peer?] = []
    /// Places that nobody has.
    private var free: [Int] = []
    private var countByUser: [uid_t: Int] = [:]
    /// How many tokens were made.
    private var made: UInt64 = 0

    var count: Int { places.count - free.count }
    var all: some Sequence<Peer> { places.lazy.compactMap(\.self) }

    subscript(_ token: UInt64) -> Peer? {
        let place = Self.place(of: token)
        guard place < places.count, let peer = places[place], peer.token == token else { return nil }
        return peer
    }

    private static func place(of token: UInt64) -> Int { Int(UInt32(truncatingIfNeeded: token)) }

    /// A token that no peer has had, for the peer that is inserted next; it is 2³² at least.
    mutating func makeToken() -> UInt64 {
        made += 1
        return made << 32 | UInt64(free.last ?? places.count)
    }

    /// How many of them are a user's.
    func count(of user: uid_t) -> Int { countByUser[user] ?? 0 }

    mutating func insert(_ peer: Peer) {
        if free.popLast() != nil { places[Self.place(of: peer.token)] = peer } else { places.append(peer) }
        countByUser[peer.user, default: 0] += 1
    }

    /// Nothing happens where it was removed before.
    mutating func remove(_ peer: Peer) {
        guard self[peer.token] != nil else { return }
        let place = Self.place(of: peer.token)
        places[place] = nil
        free.append(place)
        let rest = count(of: peer.user) - 1
        countByUser[peer.user] = rest == 0 ? nil : rest
    }
}
