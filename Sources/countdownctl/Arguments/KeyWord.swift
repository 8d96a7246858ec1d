/// A key as it is typed: the key itself, or a word that stands for the key of a countdown.
enum KeyWord: Equatable, Sendable {
    case key(String)
    /// The key; if no countdown has it, the label of a timer.
    case name(String)
    case reference(CountdownReference)

    /// A word in the place of a key.
    init(typed word: String) { self = CountdownReference(rawValue: word).map(Self.reference) ?? .name(word) }

    var text: String {
        switch self {
        case .key(let key), .name(let key): key
        case .reference(let reference): reference.rawValue
        }
    }
}

/// A word that stands for a timer. Only countdownctl knows such words: it looks the timer up, and calls the daemon with its
/// key. `Countdown.isTimer` says what a timer is.
enum CountdownReference: String, CaseIterable, Sendable {
    /// The running countdown that ends first. If none is running: the paused one with the least remaining time.
    case next = "@next"
    /// The running or paused countdown that was started last.
    case last = "@last"
}

/// The key of a countdown that a subcommand may start. @next and @last are usage errors, because later calls with that
/// word would find another countdown.
func newKey(_ word: String) throws(CommandFailure) -> String {
    guard !word.isEmpty else { throw .usage("the key is empty; use a key such as tea") }
    guard case .name(let key) = KeyWord(typed: word) else {
        throw .usage("invalid key '\(word)': it stands for another countdown; use a key such as tea")
    }
    return key
}
