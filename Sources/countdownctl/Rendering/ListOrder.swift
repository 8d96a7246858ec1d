import ArgumentParser
import IPC

/// The order of a list.
enum ListOrder: String, CaseIterable, ExpressibleByArgument {
    /// What runs by its deadline, then what is paused by what remains, then what ended, the last to end first.
    case end
    case key
    case left
    case length
    case started
    case state

    /// Whether one comes before another; those that are alike go by their keys.
    func precedes(_ left: Countdown, _ right: Countdown) -> Bool {
        switch self {
        case .end: CountdownTable.precedes(left, right)
        case .key: left.key < right.key
        case .left: (left.remainingUSec, left.key) < (right.remainingUSec, right.key)
        case .length: (left.durationUSec, left.key) < (right.durationUSec, right.key)
        case .started: (left.startedUSec, left.key) < (right.startedUSec, right.key)
        case .state: (Self.rank(left.state), left.key) < (Self.rank(right.state), right.key)
        }
    }

    private static func rank(_ state: State) -> Int { State.allCases.firstIndex(of: state) ?? 0 }
}
