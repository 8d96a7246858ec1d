import CountdownCore
import Varlink

/// `List`: telling countdowns page by page.
extension Daemon {
    func beginList(_ question: ListQuestion, _ call: Call, of peer: Peer) {
        guard keep(question.selection, soonest: question.soonest ?? 0, for: peer) else { return }
        peer.activity = .listing(Listing(question: question, takesPages: call.more))
        enqueueWalk(of: peer)
    }

    /// Adds the next portion.
    func walkOn(_ listing: Listing, of peer: Peer, _ turn: inout Turn) {
        var listing = listing
        switch listing.stage {
        case .unopened: open(&listing, &turn)
        case .walking(let walk): carryOn(walk, &listing, of: peer, &turn)
        case .telling(let keys, let next): tell(keys, from: next, &listing, of: peer, at: turn.now)
        }
        guard peer.isBusy else { return }
        peer.activity = .listing(listing)
        enqueueWalk(of: peer)
    }

    private func open(_ listing: inout Listing, _ turn: inout Turn) {
        let question = listing.question
        guard question.selection.hasKeysAlone else {
            listing.stage = .walking(
                timetable.openWalk(
                    live: question.states.isDisjoint(with: .live) ? .nowhere : .oldest,
                    ended: question.states.isDisjoint(with: .ended) ? .nowhere : .oldest
                )
            )
            return
        }
        turn.entriesLeft -= question.selection.keys.count
        let found = question.selection.keys.compactMap { timetable.countdown(under: $0) }
            .filter(listing.contains).sorted { $0.revision < $1.revision }
        guard let count = question.soonest else {
            listing.stage = .telling(found.map(\.key), next: 0)
            return
        }
        for countdown in found { listing.consider(countdown, among: count, at: turn.now) }
        listing.stage = .telling(listing.soonest(count), next: 0)
    }

    private func carryOn(_ walk: WalkID, _ listing: inout Listing, of peer: Peer, _ turn: inout Turn) {
        let now = turn.now
        let progress = carryOn(walk, for: listing.question.selection, &turn) { timetable, slot in
            let countdown = timetable[slot]
            // An ending whose key stands for another countdown by now is history: `Watch` tells it, not `List`.
            guard listing.contains(countdown), timetable.slot(under: countdown.key) == slot else { return true }
            if let count = listing.question.soonest {
                listing.consider(countdown, among: count, at: now)
            } else {
                listing.page.append(translation.element(countdown, at: now))
            }
            return listing.page.count < policy.pageBytes
        }
        if listing.page.count >= policy.pageBytes { closePage(&listing, of: peer) }
        guard peer.isBusy, progress != .more else { return }
        timetable.closeWalk(walk)
        if let count = listing.question.soonest {
            listing.stage = .telling(listing.soonest(count), next: 0)
        } else {
            finish(&listing, of: peer)
        }
    }

    private func tell(_ keys: [Key], from next: Int, _ listing: inout Listing, of peer: Peer, at now: Now) {
        for index in next..<keys.count {
            listing.stage = .telling(keys, next: index + 1)
            guard let countdown = timetable.countdown(under: keys[index]), listing.contains(countdown) else { continue }
            listing.page.append(translation.element(countdown, at: now))
            if listing.page.count >= policy.pageBytes { return closePage(&listing, of: peer) }
        }
        finish(&listing, of: peer)
    }

    /// Puts a page that is full into a reply; whoever takes one reply alone is told to ask for more.
    private func closePage(_ listing: inout Listing, of peer: Peer) {
        touch(peer)
        guard listing.takesPages else {
            release(peer)
            peer.session.fail(ServiceError.expectedMore)
            return enqueueCalls(of: peer)
        }
        let page = listing.page.take()
        peer.session.reply(continues: true) { $0.member("countdowns", raw: page) }
    }

    private func finish(_ listing: inout Listing, of peer: Peer) {
        let page = listing.page.take()
        release(peer)
        touch(peer)
        peer.session.reply { $0.member("countdowns", raw: page) }
        enqueueCalls(of: peer)
    }
}
