import Glibc

/// The connections, found by the token that the poller tells.
struct Peers {
    private var byToken: [UInt64: Peer] = [:]
    private var countByUser: [uid_t: Int] = [:]
    private var lastToken: UInt64

    /// - Parameter reserved: tokens up to this one are not given to peers.
    init(reserved: UInt64) {
        lastToken = reserved
    }

    var count: Int { byToken.count }
    var all: some Sequence<Peer> { byToken.values }

    subscript(_ token: UInt64) -> Peer? { byToken[token] }

    /// A token that no peer has had.
    mutating func makeToken() -> UInt64 {
        lastToken += 1
        return lastToken
    }

    /// How many of them are a user's.
    func count(of user: uid_t) -> Int { countByUser[user] ?? 0 }

    mutating func insert(_ peer: Peer) {
        byToken[peer.token] = peer
        countByUser[peer.user, default: 0] += 1
    }

    /// Nothing happens where it was removed before.
    mutating func remove(_ peer: Peer) {
        guard byToken.removeValue(forKey: peer.token) != nil else { return }
        let rest = count(of: peer.user) - 1
        countByUser[peer.user] = rest == 0 ? nil : rest
    }
}
