import Text

/// Rewrites arguments that ArgumentParser would misread, and joins the words of a duration: ArgumentParser would read `min` in
/// `--timeout 5 min` as another argument. Arguments after `--` stay.
enum ArgumentNormalizer {
    /// The hidden option of `adjust` that stands for an amount with a minus sign.
    static let amountOption = "--by"
    /// The option for a word such as `-5m` after a subcommand: ArgumentParser would report an unknown option, but the
    /// subcommand reports an invalid duration.
    private static let options = ["adjust": amountOption, "start": "--for", "run": "--for"]
    /// Options that take such a word as their value.
    private static let lengthOptions: Set = [
        "--for", "--timeout", "--tick", "--exec-timeout", "--rate", "--before", "--soon", "--urgent", "--undo-timeout",
        "--max", "--backoff", "--claim-for", "--queue-timeout",
    ]

    static func normalize(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        var rest = arguments[..<end]
        var words: [String] = []
        while let argument = rest.popFirst() {
            if isNegativeAmount(argument), let option = lengthOption(behind: &words) {
                words.append("\(option)=\(joined(argument, &rest))")
            } else {
                words.append(isLength(argument, after: words) ? joined(argument, &rest) : argument)
            }
        }
        return words + arguments[end...]
    }

    /// Whether an argument gives a duration, alone or as the value of an option.
    private static func isLength(_ argument: String, after words: [String]) -> Bool {
        if let sign = argument.firstIndex(of: "="), argument.hasPrefix("--") {
            return lengthOptions.contains(String(argument[..<sign]))
        }
        guard let last = words.last else { return false }
        return lengthOptions.contains(last)
            || ["run", "temporarily"].contains(words.first) && words.count > 1 && last.first != "-"
    }

    /// The argument with the next words, removed from the rest, that make a longer duration of it.
    private static func joined(_ argument: String, _ rest: inout ArraySlice<String>) -> String {
        // The duration follows a sign, `--timeout=` or the number of a rate.
        let begin = argument.lastIndex { "=/+-".contains($0) }.map(argument.index(after:)) ?? argument.startIndex
        var length = argument[begin...] == "in" ? "" : String(argument[begin...])
        var (whole, text, end) = (argument, argument, rest.startIndex)
        for place in rest.indices.prefix(TimerWords.limit) {
            (length, text) = ("\(length) \(rest[place])", "\(text) \(rest[place])")
            if DurationParser.isRight(length) { (whole, end) = (text, place + 1) }
        }
        rest = rest[end...]
        return whole
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
