import ArgumentParser

/// The keys that a verb takes, each as it is: no pattern.
struct KeyArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("The countdowns.", valueName: "key"), completion: KeyCompletion.kind)
    var keys: [String] = []

    /// The keys, of which there is one at least.
    ///
    /// - Throws: how the verb is typed.
    func required(by verb: String) throws(Failure) -> [String] {
        guard !keys.isEmpty else { throw missingKey(verb) }
        return keys
    }
}

/// The one key that a verb takes, as it is: no pattern.
struct KeyArgument: ParsableArguments {
    @Argument(help: "The countdown.", completion: KeyCompletion.kind)
    var key: String?

    /// The key.
    ///
    /// - Throws: how the verb is typed.
    func required(by verb: String) throws(Failure) -> String {
        guard let key else { throw missingKey(verb) }
        return key
    }
}

private func missingKey(_ verb: String) -> Failure { .usage("which key? `countdownctl \(verb) tea`") }

/// The condition under which a change is made.
struct RevisionOption: ParsableArguments {
    @Option(help: ArgumentHelp("Only where that is the revision of its last change.", valueName: "revision"))
    var ifRevision: Int64?
}
