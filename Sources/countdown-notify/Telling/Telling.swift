import IPC

/// What one notification tells of endings.
enum Telling: Hashable {
    /// That endings may have been missed.
    case gap
    case ending(Countdown)
    /// So many in one, the newest of them by name.
    case endings(newest: [Countdown], count: Int)

    /// The last revision that it tells; nil where it tells none.
    var revision: Int64? {
        switch self {
        case .gap: nil
        case .ending(let countdown): countdown.revision
        case .endings(let newest, _): newest.last?.revision
        }
    }

    /// How many endings it tells.
    var count: Int {
        switch self {
        case .gap: 0
        case .ending: 1
        case .endings(_, let count): count
        }
    }

    /// How it is shown.
    func notification(_ wording: Wording) -> Notification {
        switch self {
        case .gap:
            Notification(
                category: .trouble,
                summary: "Countdowns may have ended unseen",
                body: "The daemon does not keep all that ended since it was told last. What it has follows."
            )
        case .ending(let countdown):
            Notification(
                category: .ended,
                summary: Wording.name(countdown),
                body: wording.ending(countdown),
                actions: Action.allCases
            )
        case .endings(let newest, let count):
            Notification(
                category: .ended,
                summary: "\(count) countdowns have ended",
                body: Self.lines(newest, count, wording).joined(separator: "\n"),
                actions: [.dismiss]
            )
        }
    }

    private static func lines(_ newest: [Countdown], _ count: Int, _ wording: Wording) -> [String] {
        let named = newest.map { countdown in
            Wording.name(countdown) + (countdown.endedUSec.map { ", \(wording.time($0))" } ?? "")
        }
        return count > newest.count ? ["\(count - newest.count) earlier ones"] + named : named
    }
}
