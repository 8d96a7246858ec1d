import CountdownCore

/// Time drawn as a line of text: a column is half a second, and a countdown takes three.
///
/// What is done: `s` start, `w` start until an instant, `S` restart, `p` pause, `r` resume, `+` one second more, `<` one
/// second less, `x` cancel, `F` the system clock is set forward by a second, `B` back, `o` a watcher comes, `q` it goes,
/// `z` no turn is taken.
///
/// What is heard: a digit is a tick, by how many intervals remain; `o` attached, `s`, `S`, `p`, `r`, `x` as above, `a`
/// adjusted, `f` finished. What is heard in one column stands in parentheses.
struct Timeline {
    private static let column = Duration.milliseconds(500)
    private static let duration = Duration.seconds(3)

    private var turns = Turns()
    private let interval: Duration
    private let k = key("k")

    /// - Returns: what a watcher has heard; it is there from the beginning where the line does not say when it comes.
    static func heard(_ line: String, every interval: Duration = .seconds(1)) -> String {
        var timeline = Timeline(interval: interval)
        if !line.contains("o") { timeline.turns.watch(1, every: interval) }
        return line.map { timeline.play($0) }.joined()
    }

    private init(interval: Duration) {
        self.interval = interval
    }

    private mutating func play(_ act: Character) -> String {
        turns.forget()
        guard act != "z" else {
            turns.sleep(for: Self.column)
            return "-"
        }
        switch act {
        case "o": turns.watch(1, every: interval)
        case "q": turns.leave(1)
        case "F": turns.setWall(by: .seconds(1))
        case "B": turns.setWall(by: -.seconds(1))
        default: break
        }
        if let request = request(act) { turns.turn(request) } else { turns.turn() }
        let end = turns.now.boot + Self.column
        while let alarm = turns.alarm, alarm - turns.now.wall < end - turns.now.boot {
            turns.sleep(for: alarm - turns.now.wall)
            turns.turn()
        }
        turns.sleep(for: end - turns.now.boot)
        let heard = turns.heard(by: 1).map { sign(of: $0.heard) }.joined()
        return heard.isEmpty ? "-" : heard.count == 1 ? heard : "(\(heard))"
    }

    private func request(_ act: Character) -> Request? {
        switch act {
        case "s": .start(.init(k, .after(Self.duration)))
        case "w": .start(.init(k, .at(turns.now.wall + Self.duration)))
        case "S": .start(.init(k, .after(Self.duration), ifLive: .restart))
        case "p": .pause(k)
        case "r": .resume(k)
        case "+": .adjust(k, .by(.seconds(1)))
        case "<": .adjust(k, .by(-.seconds(1)))
        case "x": .cancel(k)
        default: nil
        }
    }

    private func sign(of heard: Turns.Heard) -> String {
        switch heard {
        case .attached: "o"
        case .synced, .missed: ""
        case .tick(_, let remaining):
            remaining.microseconds.isMultiple(of: interval.microseconds)
                ? "\(remaining.microseconds / interval.microseconds)" : "?"
        case .change(let change):
            switch change.kind {
            case .started: "s"
            case .restarted: "S"
            case .adjusted: "a"
            case .paused: "p"
            case .resumed: "r"
            case .finished: "f"
            case .cancelled: "x"
            }
        }
    }
}
