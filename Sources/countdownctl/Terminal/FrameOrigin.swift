/// On which row of its terminal a frame begins: only the terminal knows, and is asked where a click may come.
struct FrameOrigin {
    private enum Knowledge: Equatable {
        case unknown
        case asked
        case known(row: Int)
    }

    private var knowledge = Knowledge.unknown

    /// Notes that the frame may be elsewhere now.
    mutating func lose() { knowledge = .unknown }

    /// Notes the terminal's answer.
    mutating func found(_ row: Int) { if knowledge == .asked { knowledge = .known(row: row) } }

    /// What asks the terminal where its cursor is, which rests at the beginning of the frame; empty where that is known.
    mutating func question() -> String {
        guard knowledge == .unknown else { return "" }
        knowledge = .asked
        return "\u{1B}[6n"
    }

    /// The row of the frame at a row of the terminal; nil where that is not known.
    func row(of row: Int) -> Int? {
        guard case .known(let first) = knowledge else { return nil }
        return row - first
    }
}
