import CLinux
import CountdownCore
import Glibc
import System
import Varlink

/// Accepting.
extension Daemon {
    /// The pause if no further connection can be refused, or after a failure. Meanwhile refused clients read their error, and other
    /// processes may free descriptors or memory.
    private static let acceptPause = Duration.milliseconds(100)
    /// The time between two looks at the socket's file, if inotify does not report that it was removed.
    private static let lookPause = Duration.seconds(1)

    func pollListener() throws(SystemFailure) {
        try poller.add(listener.descriptor, token: Token.listener, reading: acceptsAgain == nil)
        if let watch = listener.watchDescriptor { try poller.add(watch, token: Token.socketFile) }
    }

    /// Watches the file of our own socket. If the system has no inotify to give, the daemon looks once a second.
    func watchSocketFile(at now: Now) {
        do throws(SystemFailure) {
            try listener.watchFile()
            nextLook = nil
        } catch {
            if nextLook == nil {
                log.write(.warning, "\(error): the daemon looks once a second whether its socket was removed")
            }
            nextLook = now.boot + Self.lookPause
        }
    }

    /// Looks after the socket's file if nothing reports that it was removed.
    func lookAtSocketFile(at now: Now) {
        guard let look = nextLook, look <= now.boot else { return }
        watchSocketFile(at: now)
        do throws(SystemFailure) {
            if let watch = listener.watchDescriptor { try poller.add(watch, token: Token.socketFile) }
        } catch {
            log.write(.error, "\(error)")
        }
        listenAgain(at: now)
    }

    /// Makes the socket of our own again if somebody has removed or replaced its file.
    func listenAgain(at now: Now) {
        guard let path = listener.lostPath() else { return }
        log.write(.warning, "\(path) was removed; listening there again", fields: ["SOCKET": path])
        // Clients that connected before the file was removed.
        acceptAll(at: now)
        do {
            guard let made = try listener.again() else { return }
            poller.remove(listener.descriptor)
            if let watch = listener.watchDescriptor { poller.remove(watch) }
            listener = made
            watchSocketFile(at: now)
            try pollListener()
        } catch {
            nextLook = nil
            log.write(.error, "\(error); no client can connect until countdownd is started again")
        }
    }

    func acceptAll(at now: Now) {
        for _ in 0..<limits.connectionsInTurn where acceptsAgain == nil {
            guard connections.refused < limits.refusals else {
                return pauseAccepting("\(connections.refused) refused connections have not been closed", at: now)
            }
            do throws(SystemFailure) {
                guard let connection = try listener.accept() else { return }
                try accept(Descriptor(owning: connection, of: "accept4"), at: now)
            } catch {
                reserve.release()
                pauseAccepting("\(error)", at: now)
            }
        }
    }

    /// Accepts connections again if the pause is over. Refused connections that sent no call in it are closed, so that their
    /// number does not keep others from an answer.
    func acceptAgain(at now: Now) {
        guard let next = acceptsAgain, next <= now.boot else { return }
        for connection in connections.all where connection.isOverQuota {
            counters.excessPeers += 1
            drop(connection)
        }
        setAccepting(reserve.fill() ? nil : now.boot + Self.acceptPause)
    }

    private func accept(_ socket: consuming Descriptor, at now: Now) throws(SystemFailure) {
        var user: uid_t = 0
        guard unsafe linux_peer_user(socket.number, &user) == 0 else { throw SystemFailure("getsockopt") }
        let overQuota = isStranger(user) ? connections.count(of: user) + 1 - limits.connectionsPerUser : 0
        guard overQuota <= limits.refusalsPerUser else {
            counters.excessPeers += 1
            let sentence = "closing a connection of user \(user), who has \(limits.connectionsPerUser) open"
            return logLimited(.overQuota, sentence, at: now)
        }
        let refusal =
            overQuota > 0
            ? translation.limitReached("connectionsPerUser", limits.connectionsPerUser)
            : refusalOfAll(reserve.isAlmostLast(socket.number), at: now)
        let connection = Connection(
            socket: socket,
            token: connections.makeToken(),
            of: user,
            isOverQuota: refusal != nil,
            totals: connections.totals,
            session: ServerSession(
                service: Translation.service,
                messageLimit: limits.messageBytes,
                refusal: options.access == .owner && isStranger(user) ? ServiceError.permissionDenied : refusal
            )
        )
        try poller.add(connection.descriptor, token: connection.token)
        connections.insert(connection)
    }

    /// Whether a user is neither the daemon's user nor root.
    func isStranger(_ user: uid_t) -> Bool { user != geteuid() && user != 0 }

    /// The error for a further connection, whoever its user is; nil if there is room for it.
    private func refusalOfAll(_ isShortOfDescriptors: Bool, at now: Now) -> (any ReplyError)? {
        guard isShortOfDescriptors || connections.served >= limits.connections else { return nil }
        let (served, reason) = (connections.served, isShortOfDescriptors ? "; few descriptors are left" : "")
        logLimited(.overQuota, "refusing a connection, because \(served) are open\(reason)", at: now)
        return translation.limitReached("connections", served)
    }

    private func pauseAccepting(_ reason: String, at now: Now) {
        logLimited(.notAccepting, "not accepting connections: \(reason)", at: now)
        setAccepting(now.boot + Self.acceptPause)
    }

    /// Accepts connections now, or stops until an instant.
    private func setAccepting(_ next: BootInstant?) {
        acceptsAgain = next
        do throws(SystemFailure) {
            try poller.set(listener.descriptor, token: Token.listener, reading: next == nil, writing: false)
        } catch {
            fail(error)
        }
    }
}

/// Reading.
extension Daemon {
    func receive(from connection: Connection, _ readiness: Readiness, at now: Now) {
        connections.dirty.append(connection)
        if readiness.isReadable || readiness.isHungUp, connection.wantsInput(limits) {
            connection.receive(into: &receiveBuffer)
            enforceInputQuota(at: now)
            connections.withCalls.append(connection)
        }
        // The client is gone, so no reply can reach it.
        if readiness.isHungUp, connection.expectsReplies {
            connection.condition = .gone
            withdrawCalls(of: connection)
        }
    }
}

/// The end of a turn: writing and closing.
extension Daemon {
    /// Writes the output of this turn, and closes connections that are done.
    func sendAll(at now: Now) {
        for connection in connections.dirty.all where !connection.queued.contains(.page) { flush(connection, at: now) }
        // Lists last, so a client that has read one was sent the events of its countdowns. Other replies go with the events, in
        // the order of their connections: a client that has its reply early sends its next call meanwhile.
        while let connection = connections.withPages.takeFirst() { flush(connection, at: now) }
        while let connection = connections.dirty.takeFirst() {
            if isDone(connection) { close(connection) } else { resume(with: connection) }
        }
    }

    /// Counts a page that was added to a reply. Writes if several pages are pending, because one turn can produce more
    /// than a client may leave unread.
    func notePage(for connection: Connection, at now: Now) {
        if connection.buffers.unsent > min(4 * limits.pageBytes, limits.unsentBytes) {
            send(to: connection, keepingCapacity: true, at: now)
        } else {
            connection.count()
            enforceOutputQuota(at: now)
        }
    }

    /// Writes what the turn has for one client.
    private func flush(_ connection: Connection, at now: Now) {
        connection.endArray()
        send(to: connection, at: now)
    }

    private func send(to connection: Connection, keepingCapacity: Bool = false, at now: Now) {
        connection.send(keepingCapacity: keepingCapacity)
        if connection.buffers.unsent > limits.unsentBytes { disconnectSlow(connection, at: now) }
        enforceOutputQuota(at: now)
    }

    private func isDone(_ connection: Connection) -> Bool {
        switch connection.condition {
        case .gone: true
        case .closing: connection.buffers.unsent == 0
        case .open:
            connection.inputHasEnded && !connection.expectsReplies && !connection.queued.contains(.calls)
                && !connection.isThrottled && connection.buffers.unsent == 0
        }
    }

    /// Disconnects the clients that have left the most unread until all clients together are within the quota.
    private func enforceOutputQuota(at now: Now) {
        while connections.totals.unsent > limits.unsentBytesInAll, let slowest = connections.slowest {
            let unsent = slowest.counted.unsent
            slowest.send()
            if slowest.counted.unsent == unsent { disconnectSlow(slowest, at: now) }
        }
    }

    private func disconnectSlow(_ connection: Connection, at now: Now) {
        let unread = connection.buffers.unsent
        let sentence = "disconnecting a client that has left \(unread) bytes unread"
        logLimited(.slow, sentence, fields: ["UNREAD_BYTES": "\(unread)"], at: now)
        counters.slowPeers += 1
        drop(connection)
    }

    /// Disconnects a client, whose connection is closed at the end of the turn.
    private func drop(_ connection: Connection) {
        connection.drop()
        connections.dirty.append(connection)
    }

    /// Resumes a throttled connection after its client has read, and registers its events with the poller.
    private func resume(with connection: Connection) {
        if connection.isThrottled, !connection.isBlocked {
            connection.isThrottled = false
            if connection.isBusy {
                connections.withScans.append(connection)
            } else {
                connections.withCalls.append(connection)
            }
        }
        let (reading, writing) = (connection.wantsInput(limits), connection.isBlocked)
        guard (reading, writing) != (connection.isReading, connection.isWriting) else { return }
        do throws(SystemFailure) {
            try poller.set(connection.descriptor, token: connection.token, reading: reading, writing: writing)
            (connection.isReading, connection.isWriting) = (reading, writing)
        } catch {
            log.write(.error, "\(error)")
            close(connection)
        }
    }

    private func close(_ connection: Connection) {
        withdrawCalls(of: connection)
        connection.drop()
        connections.remove(connection)
        if acceptsAgain != nil, reserve.fill() { setAccepting(nil) }
    }

    /// Finishes the reply of a connection with its last message. The calls behind it are carried out next.
    func finishReply(of connection: Connection, _ write: (inout ServerSession) -> Void) {
        release(connection)
        connection.use(write)
        connections.dirty.append(connection)
        connections.withCalls.append(connection)
    }

    /// Gives up all calls of a client that is gone.
    private func withdrawCalls(of connection: Connection) {
        release(connection)
        for call in connection.sharedCalls.waiting { fleet?.withdraw(call.number, of: call.request.key) }
        connection.sharedCalls = SharedCalls()
    }

    /// Gives up an unfinished reply, without a message, and the memory for it.
    func release(_ connection: Connection) {
        connection.releaseRequest()
        switch connection.unfinishedReply {
        case .none:
            return
        case .waiting(let key, _):
            publisher.removeWaiting(connection, for: key)
        case .queued(let start, let number):
            startQueue.remove(number, for: start.key)
            fleet?.withdraw(number, of: start.key)
        case .listing(let cursor):
            if case .scanning(let scan) = cursor.stage { timetable.closeScan(scan) }
        case .watching(let cursor):
            for scan in cursor.scans { timetable.closeScan(scan) }
            publisher.watchers.remove(connection.watcher)
            publisher.heartbeats.remove(connection.token)
        }
        connection.unfinishedReply = nil
    }
}

/// The quotas that all connections share.
extension Daemon {
    /// Disconnects the clients with the largest input buffers until all clients together are within the quota.
    func enforceInputQuota(at now: Now) {
        while connections.totals.received > limits.receivedBytesInAll, let largest = connections.largest {
            let waiting = largest.buffers.pendingInput + largest.queuedBytes
            let sentence = "disconnecting a client that has sent \(waiting) bytes which are no whole call, or wait"
            logLimited(.inputQuota, sentence, fields: ["WAITING_BYTES": "\(waiting)"], at: now)
            counters.hoardingPeers += 1
            drop(largest)
        }
    }

    /// Counts the bytes of the keys and patterns of a watch or list, and of its tables, until its reply is finished.
    /// - Throws: `LimitReached` if there is no room.
    func keep(_ selection: Selection, tables: Int, for connection: Connection) throws {
        let (bytes, limit) = (selection.bytes(tables: tables), limits.selectionBytesInAll)
        guard connection.reserve(bytes, limit: limit) else { throw requestsOverQuota }
    }

    /// Counts bytes that a list in progress takes besides, until its reply is finished.
    /// - Returns: whether there was room; if not, the list has failed.
    func keepMore(_ bytes: Int, for connection: Connection) -> Bool {
        if connection.reserve(bytes, limit: limits.selectionBytesInAll) { return true }
        finishReply(of: connection) { $0.fail(requestsOverQuota) }
        return false
    }

    private var requestsOverQuota: any ReplyError {
        translation.limitReached("selectionBytesInAll", limits.selectionBytesInAll)
    }
}

/// Lines about clients, which must not be able to fill a disk.
extension Daemon {
    func logLimited(_ topic: LogTopic, _ message: String, fields: Log.Fields = [:], at now: Now) {
        rateLimitedLog.write(topic, .warning, message, fields: fields, to: log, at: now.boot.microseconds)
    }

    func logLimited(about violation: ProtocolViolation, at now: Now) {
        switch violation {
        case .messageTooLong(let limit):
            logLimited(.messageTooLong, "disconnecting a client whose message has more than \(limit) bytes", at: now)
        default:
            logLimited(.brokenProtocol, "disconnecting a client that broke the protocol: \(violation)", at: now)
        }
    }
}
