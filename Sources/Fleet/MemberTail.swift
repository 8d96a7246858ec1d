import CountdownCore

/// The tail of the log after a failover: unanswered changes that were followed here, and that the engine has lost.
/// They are taken back by changes to the present records, so that everything else stays as it is.
extension Member {
    /// Reads the log from further back.
    ///
    /// - Returns: false if everything must be read again.
    mutating func rewind() -> Bool {
        guard let (opening, tail) = cursor.rewind() else { return false }
        self.tail = tail + self.tail
        forgetAhead()
        output.opening = opening
        return true
    }

    /// Takes back the rest of the tail, now that the log was read to its end without it.
    mutating func takeBackTail() {
        guard !tail.isEmpty else { return }
        for key in Set(tail.map(\.key)) {
            var entry = keys[key] ?? KeyCalls()
            for index in entry.flight?.steps.indices ?? 0..<0 where isInTail(entry.flight?.steps[index].proposal.id) {
                entry.flight?.steps[index].isInLog = false
            }
            entry.isLost = isInTail(records[key]?.id)
            keys[key] = entry.isEmpty ? nil : entry
            mark(key)
        }
        output.notes.append(.takenBack(tail.count))
        forgetTail()
    }

    private func isInTail(_ id: ProposalID?) -> Bool { id != nil && tail.contains { $0.position.id == id } }

    /// Asks the engine for the record of a key, if the one that is known is lost.
    ///
    /// - Returns: whether the calls of the key must wait for that.
    mutating func ask(_ entry: inout KeyCalls, _ key: Key, at now: Now) -> Bool {
        guard let held = records[key], isInTail(held.id) else {
            entry.isLost = false
            forgetTail()
            return false
        }
        if let notBefore = entry.notBefore, notBefore > now.wall {
            wake(key, at: notBefore)
            return true
        }
        entry.notBefore = nil
        let window = Window(notBefore: nil, notAfter: now.wall + options.patience)
        let proposal = Proposal(key: key, expected: held.id, window: window, due: nil, id: newID(), record: nil)
        entry.flight = Flight(steps: [Step(proposal: proposal, calls: [], deadline: nil)])
        unsent.append(key)
        return true
    }

    /// Brings a key to the record that the engine has in the place of a lost one.
    mutating func takeBack(
        _ held: HeldRecord,
        instead entry: LogEntry?,
        under key: Key,
        _ timetable: inout Timetable,
        at now: Now
    ) {
        // A newer change comes with the log.
        if let entry, entry.version > cursor.position?.version ?? entry.version { return }
        if let entry {
            _ = replace(held, by: entry, &timetable, at: now)
        } else {
            output.changes += timetable.applyRemote(.absent(key), at: now)
            remove(key)
        }
        stopTakingBack(key)
    }

    /// The engine has been asked for the record of a key.
    mutating func stopTakingBack(_ key: Key) {
        keys[key]?.isLost = false
        forgetTail()
    }

    private mutating func forgetTail() {
        if !keys.values.contains(where: \.isLost) { tail = [] }
    }
}
