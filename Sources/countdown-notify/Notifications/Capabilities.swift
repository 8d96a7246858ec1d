/// What whoever shows notifications can do beyond their summary, as its `GetCapabilities` says.
struct Capabilities: OptionSet, Hashable {
    let rawValue: Int

    static let actions = Capabilities(rawValue: 1)
    static let body = Capabilities(rawValue: 2)
    static let bodyMarkup = Capabilities(rawValue: 4)

    init(rawValue: Int) { self.rawValue = rawValue }

    /// Those of these names that matter here.
    init(named names: [String]) {
        let known: [String: Capabilities] = ["actions": .actions, "body": .body, "body-markup": .bodyMarkup]
        self = Capabilities(names.compactMap { known[$0] })
    }
}
