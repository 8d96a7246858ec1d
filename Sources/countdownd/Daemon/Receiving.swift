import CountdownCore
import Glibc
import Varlink

/// The beginning of a turn: the time, and what has come in.
extension Daemon {
    /// Reads the clocks, and notices where the system clock was set.
    func takeTime(_ ready: [Readiness]) -> Now {
        if ready.contains(where: { $0.token == Token.clockWatch }) { clockWatch.arm() }
        let (now, step) = clocks.now()
        if let step { clockWasSet(by: step, at: now) }
        return now
    }

    private func clockWasSet(by step: Duration, at now: Now) {
        counters.clockSteps += 1
        let sentence = "the system clock was set by \(step.microseconds / 1_000) ms"
        log.write(.notice, sentence, fields: ["STEP_USEC": "\(step.microseconds)"])
        stepRevision = timetable.revision
        clockStep = ClockStep(offset: now.offset, revision: timetable.revision)
        watchers.clockWasSet(at: now)
        for peer in peers.all {
            guard case .watching(var watching) = peer.activity else { continue }
            watching.clockWasSet = true
            peer.activity = .watching(watching)
            enqueueWalk(of: peer)
        }
    }

    /// Takes in connections and what peers have sent.
    func receive(_ ready: [Readiness], at now: Now) {
        acceptAgain(at: now)
        for readiness in ready {
            switch readiness.token {
            case Token.listener: acceptAll(at: now)
            case Token.signals: stop()
            case Token.clockWatch, Token.eventLoop: break
            case Token.socketFile: listenAgain(at: now)
            default: if let peer = peers[readiness.token] { receive(from: peer, readiness, at: now) }
            }
        }
    }

    private func receive(from peer: Peer, _ readiness: Readiness, at now: Now) {
        touch(peer)
        if readiness.isReadable || readiness.isHungUp, peer.wantsInput(policy) {
            peer.receive(into: &receiveBuffer)
            count(receivedOf: peer)
            disconnectHoarders(at: now)
            enqueueCalls(of: peer)
        }
        // Nobody will read the answer to a call that is still waiting for it.
        if readiness.isHungUp, peer.isBusy { peer.condition = .gone }
    }

    // MARK: The end

    /// Ends the process as it should end: whoever comes back finds what was stored.
    private func stop() {
        log.write(.info, "stopping")
        supervision.stop()
        storage.close(at: timetable.revision, clocks.now().now)
        listener.removeFile()
        exit(EXIT_SUCCESS)
    }

    /// Ends the process because it cannot go on.
    func fail(_ failure: SystemFailure) -> Never {
        log.write(.error, "\(failure)")
        exit(EXIT_FAILURE)
    }
}
