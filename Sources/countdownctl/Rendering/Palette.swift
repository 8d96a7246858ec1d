import IPC

/// The colours of a rendering, if it has any.
struct Palette: Equatable {
    /// Whether anything is coloured.
    let isColoured: Bool

    static let plain = Palette(isColoured: false)

    enum Tint: Int {
        case bold = 1
        case faint = 2
        case red = 31
        case green = 32
        case yellow = 33
    }

    /// The text in a colour, by a sequence of ECMA-48.
    func paint(_ text: String, _ tint: Tint?) -> String {
        guard isColoured, let tint else { return text }
        return "\u{1B}[\(tint.rawValue)m\(text)\u{1B}[0m"
    }
}

extension Palette.Tint {
    /// The colour of a state.
    init?(_ state: State) {
        switch state {
        case .running: self = .green
        case .paused: self = .yellow
        case .finished: return nil
        case .cancelled: self = .faint
        }
    }
}
