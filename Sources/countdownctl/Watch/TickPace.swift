import IPC
import Varlink

/// Which ticks are printed as lines: one for each minute that remains, for each 10 s in the last minute, and for each second
/// in the last ten.
final class TickPace {
    /// The last line of each key, as the mark that it passed.
    private var passed: TextMap<Int64> = [:]

    /// Notes an event; whether it is printed. All but ticks are.
    func prints(_ event: Event) -> Bool {
        guard let key = event.key, let remaining = event.remainingUSec else { return true }
        let mark = Self.mark(above: remaining)
        let isNew = passed[key] != mark
        let isOver = event.type == .finished || event.type == .cancelled
        passed[key] = isOver ? nil : mark
        return isNew || event.type != .tick
    }

    /// The next mark, in seconds, that is not below a remaining time in microseconds.
    private static func mark(above remaining: Int64) -> Int64 {
        let seconds = RemainingFormat.seconds(remaining)
        let step: Int64 = seconds > 60 ? 60 : seconds > 10 ? 10 : 1
        return (seconds + step - 1) / step * step
    }
}
