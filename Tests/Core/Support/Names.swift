import CountdownCore

/// A key that is valid.
func key(_ text: String) -> Key {
    guard let key = try? Key(text) else { preconditionFailure("\(text) is no key") }
    return key
}

/// A pattern that is valid.
func pattern(_ text: String) -> Pattern {
    guard let pattern = try? Pattern(text) else { preconditionFailure("\(text) is no pattern") }
    return pattern
}
