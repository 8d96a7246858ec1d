/// The connections, found by the token that the poller tells.
struct Peers {
    private var byToken: [UInt64: Peer] = [:]
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

    mutating func insert(_ peer: Peer) {
        byToken[peer.token] = peer
    }

    mutating func remove(_ peer: Peer) {
        byToken[peer.token] = nil
    }
}
