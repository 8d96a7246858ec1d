/// An answer of List, to be checked once the changes around it are known.
struct ListAnswer {
    let parameters: Parameters
    /// The newest revision that was known when the call was sent.
    let known: Int
    let countdowns: [Countdown]

    var earliest: Int { max(known, countdowns.map(\.revision).max() ?? 0) }

    /// Whether the list shows the countdowns, by key, of this moment.
    func isRight(for present: [String: Countdown]) -> Bool {
        let states = parameters.states ?? ["running", "paused"]
        let filter = Filter(keys: parameters.keys, match: parameters.match)
        let all = present.values.filter { states.contains($0.state) && filter.matches($0.key) }
        guard countdowns.allSatisfy({ present[$0.key]?.revision == $0.revision }) else { return false }
        guard let soonest = parameters.soonest else {
            return countdowns.map(\.revision) == all.map(\.revision).sorted()
        }
        let deadlines = all.compactMap(\.deadlineUSec).sorted().prefix(soonest)
        let count = min(soonest, all.count)
        return countdowns.count == count && Set(countdowns.map(\.key)).count == count
            && countdowns.prefix(deadlines.count).map(\.deadlineUSec) == Array(deadlines)
            && countdowns.dropFirst(deadlines.count).allSatisfy(\.isPaused)
    }
}

extension History {
    /// Checks that each answer is right for one moment, by the changes that one watcher of all countdowns received.
    ///
    /// - Returns: how many answers could be checked: the changes behind the last ones of a killed daemon are not known.
    func check(_ answers: [ListAnswer], by stretch: Watcher.Stretch) -> Int {
        var present = stretch.base
        for key in keys where present[key] == nil {
            present[key] = newestKeptEnd(of: key, before: stretch.after + 1).flatMap { records[$0] }
        }
        var next = 0
        var checked = 0
        for answer in answers.sorted(by: { $0.earliest < $1.earliest }) {
            while next < stretch.changes.count, stretch.changes[next].revision <= answer.earliest {
                apply(stretch.changes[next], to: &present)
                next += 1
            }
            var later = present
            var ahead = stretch.changes[next...].prefix(500)
            while !answer.isRight(for: later), let change = ahead.popFirst() { apply(change, to: &later) }
            let isRight = answer.isRight(for: later)
            guard isRight || stretch.changes.count - next > 500 else { continue }
            checked += 1
            check(isRight, "List \(answer.parameters) is right for no moment: \(answer.countdowns)")
        }
        return checked
    }

    private func apply(_ change: Countdown, to present: inout [String: Countdown]) {
        let isGone = !change.isAlive && change.forget
        present[change.key] =
            isGone ? newestKeptEnd(of: change.key, before: change.revision).flatMap { records[$0] } : change
    }
}
