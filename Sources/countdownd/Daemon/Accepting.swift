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
    static let pause = Duration.seconds(1)

    var state = State.on

    /// When to try again; nil where nothing but a peer that goes can help.
    var next: BootInstant? {
        guard case .failed(let instant) = state else { return nil }
        return instant
    }
}

/// Taking in connections.
extension Daemon {
    func pollListener() throws(SystemFailure) {
        try poller.add(listener.descriptor, token: Token.listener, reading: accepting.state == .on)
        if let watch = listener.watchDescriptor { try poller.add(watch, token: Token.socketFile) }
    }

    /// Makes the socket of our own again if somebody has removed or replaced its file.
    func listenAgain(at now: Now) {
        guard let path = listener.lostPath() else { return }
        log.write(.warning, "\(path) was removed; listening there again", fields: ["SOCKET": path])
        // Clients that connected before the file was removed.
        acceptAll(at: now)
        do {
            let made = try Listener(path: path)
            poller.remove(listener.descriptor)
            if let watch = listener.watchDescriptor { poller.remove(watch) }
            listener = made
            try pollListener()
        } catch {
            log.write(.error, "\(error); no client can connect until countdownd is started again")
        }
    }

    func acceptAll(at now: Now) {
        for _ in 0..<policy.connectionsInTurn where accepting.state == .on {
            guard peers.count < policy.connections else {
                return stopAccepting(.full, "all \(policy.connections) connections are taken", at: now)
            }
            do throws(SystemFailure) {
                guard let connection = try listener.accept() else { return }
                try admit(Descriptor(owning: connection, of: "accept4"), at: now)
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

    private func admit(_ socket: consuming Descriptor, at now: Now) throws(SystemFailure) {
        var user: uid_t = 0
        guard unsafe linux_peer_user(socket.number, &user) == 0 else { throw SystemFailure("getsockopt") }
        let excess = isStranger(user) ? peers.count(of: user) + 1 - policy.connectionsPerUser : 0
        guard excess <= policy.refusalsPerUser else { return turnAway(user, at: now) }
        let peer = Peer(
            socket: socket,
            token: peers.makeToken(),
            of: user,
            isExcess: excess > 0,
            session: ServerSession(
                service: Translation.service,
                messageLimit: policy.messageBytes,
                refusal: refusal(of: user, isExcess: excess > 0)
            )
        )
        try poller.add(peer.descriptor, token: peer.token)
        peers.insert(peer)
    }

    /// Whether a user is neither the daemon's own nor root.
    private func isStranger(_ user: uid_t) -> Bool { user != geteuid() && user != 0 }

    /// What all calls are answered with; nil where they are carried out.
    private func refusal(of user: uid_t, isExcess: Bool) -> (any ReplyError)? {
        if options.access == .owner, isStranger(user) { return ServiceError.permissionDenied }
        return isExcess ? translation.limitReached("connectionsPerUser", policy.connectionsPerUser) : nil
    }

    private func turnAway(_ user: uid_t, at now: Now) {
        counters.excessPeers += 1
        complain(.excess, "closing a connection of user \(user), who has \(policy.connectionsPerUser) open", at: now)
    }

    private func stopAccepting(_ state: Accepting.State, _ reason: String, at now: Now) {
        complain(.notAccepting, "not accepting connections: \(reason)", at: now)
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
