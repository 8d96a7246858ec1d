import CLinux
import CountdownCore
import Glibc
import Varlink

/// Whether connections are taken in; those that are not wait in the listen queue.
struct Accepting {
    enum State: Equatable {
        case on
        /// Until a peer has gone.
        case full
        /// Until a peer has gone, or this instant has come.
        case failed(until: BootInstant)
    }

    /// After a failure, as descriptors or memory may have been freed by others.
    static let pause = TimeSpan.seconds(1)
    /// Where peers come and go at the limit, each of them is not worth a line.
    private static let silence = TimeSpan.seconds(60)

    var state = State.on
    private var warned: BootInstant?

    /// When to try again; nil where nothing but a peer that goes can help.
    var next: BootInstant? {
        guard case .failed(let instant) = state else { return nil }
        return instant
    }

    /// Whether a warning is due; it counts as given then.
    mutating func takeWarning(at now: Now) -> Bool {
        if let warned, now.boot - warned < Self.silence { return false }
        warned = now.boot
        return true
    }
}

/// Taking in connections.
extension Daemon {
    func acceptAll(at now: Now) {
        while accepting.state == .on {
            guard peers.count < policy.connections else {
                return stopAccepting(.full, "all \(policy.connections) connections are taken", at: now)
            }
            do throws(SystemFailure) {
                guard let connection = try listener.accept() else { return }
                try admit(Descriptor(owning: connection, of: "accept4"))
            } catch {
                reserve.release()
                stopAccepting(.failed(until: now.boot + Accepting.pause), "\(error)", at: now)
            }
        }
    }

    /// Takes connections in again, where the time for it has come.
    func acceptAgain(at now: Now) {
        guard let next = accepting.next, next <= now.boot else { return }
        setAccepting(reserve.fill() ? .on : .failed(until: now.boot + Accepting.pause))
    }

    /// Takes connections in again, now that a peer has gone.
    func acceptInsteadOfGone() {
        if accepting.state != .on, reserve.fill() { setAccepting(.on) }
    }

    private func admit(_ socket: consuming Descriptor) throws(SystemFailure) {
        var user: uid_t = 0
        guard unsafe linux_peer_user(socket.number, &user) == 0 else { throw SystemFailure("getsockopt") }
        let mayEnter = options.access == .socket || user == geteuid() || user == 0
        let peer = Peer(
            socket: socket,
            token: peers.makeToken(),
            session: ServerSession(
                service: Translation.service,
                messageLimit: policy.messageBytes,
                isDenied: !mayEnter
            )
        )
        try poller.add(peer.descriptor, token: peer.token)
        peers.insert(peer)
    }

    private func stopAccepting(_ state: Accepting.State, _ reason: String, at now: Now) {
        if accepting.takeWarning(at: now) { log.write(.warning, "not accepting connections: \(reason)") }
        setAccepting(state)
    }

    private func setAccepting(_ state: Accepting.State) {
        accepting.state = state
        do throws(SystemFailure) {
            try poller.set(listener.descriptor, token: Token.listener, reading: state == .on, writing: false)
        } catch {
            fail(error)
        }
    }
}
