/// How far the daemon's history has been told.
struct Told: Equatable {
    /// The revision up to which all has been told: what the next watch goes on from.
    let all: Int64
    /// The revision of the last ending that was told, or where telling began: what was told, where the daemon cannot go on
    /// from there. One whose store cannot be opened counts from a revision of its own, which is later than any that it
    /// has once it can.
    let ending: Int64
}

/// As text, in a line of its own.
extension Told: LosslessStringConvertible {
    init?(_ description: String) {
        let words = description.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, let all = Int64(words[0]), let ending = Int64(words[1]),
            all >= 0, ending >= 0
        else { return nil }
        self.init(all: all, ending: ending)
    }

    var description: String { "\(all) \(ending)" }
}
