/// Rewrites arguments that ArgumentParser would misread. Arguments after `--` stay.
enum ArgumentNormalizer {
    /// The hidden option of `adjust` that stands for an amount with a minus sign.
    static let amountOption = "--by"
    /// The option for a word such as `-5m` after a subcommand: ArgumentParser would report an unknown option, but the
    /// subcommand reports an invalid duration.
    private static let options = ["adjust": amountOption, "start": "--for", "run": "--for"]
    /// Options that take such a word as their value.
    private static let lengthOptions = ["--for", "--timeout", "--tick", "--exec-timeout", "--rate"]
    /// Options that may stand without a value, with the value that stands for this. The `--wait` of `start` is a flag.
    private static let optionalValues: [String: [String: String]] = [
        "start": ["--queue": QueueTimeout.infinity], "run": ["--wait": QueueTimeout.infinity],
    ]

    static func normalize(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        var words: [String] = []
        for argument in arguments[..<end] {
            // Without its value it would take the next argument for one.
            if argument == "--json" {
                words.append("--json=\(JSONStyle.short.rawValue)")
            } else if let value = words.first.flatMap({ optionalValues[$0]?[argument] }) {
                words.append("\(argument)=\(value)")
            } else if isNegativeAmount(argument), let option = lengthOption(behind: &words) {
                words.append("\(option)=\(argument)")
            } else {
                words.append(argument)
            }
        }
        return words + arguments[end...]
    }

    /// The option for a duration that the next word gives, removed from the end of the words if it was typed; nil if the next
    /// word is not a duration.
    private static func lengthOption(behind words: inout [String]) -> String? {
        if let last = words.last, lengthOptions.contains(last) { return words.removeLast() }
        guard let subcommand = words.first, let option = options[subcommand] else { return nil }
        // Another option may want it as its value.
        return option == amountOption || words.last?.first != "-" ? option : nil
    }

    /// `-1m`, `-.5h`: no option begins with a digit.
    private static func isNegativeAmount(_ argument: String) -> Bool {
        guard argument.first == "-", let second = argument.dropFirst().first else { return false }
        return second == "." || second.isASCII && second.isNumber
    }
}
