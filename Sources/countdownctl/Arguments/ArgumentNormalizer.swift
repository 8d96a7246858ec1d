import Text

/// Rewrites arguments that ArgumentParser would misread, and joins the words of a duration or a time: ArgumentParser would read `min` in
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
            if isNegativeAmount(argument), words.first == "timer", words.count > 1, words[words.count - 1].first != "-"
            {
                // An offset, or a part of the label.
                words[words.count - 1] += " \(argument)"
            } else if isNegativeAmount(argument), let option = lengthOption(behind: &words) {
                words.append("\(option)=\(joined(argument, &rest, .length))")
            } else {
                words.append(value(of: argument, after: words).map { joined(argument, &rest, $0) } ?? argument)
            }
        }
        return words + arguments[end...]
    }

    /// What several words may be together.
    private enum Value {
        case length
        case time
        /// A duration, or a time.
        case timing
    }

    /// What an argument gives, alone or as the value of an option; nil for any other.
    private static func value(of argument: String, after words: [String]) -> Value? {
        let isAttached = argument.hasPrefix("--") && argument.contains("=")
        let option = isAttached ? String(argument.prefix { $0 != "=" }) : words.last ?? ""
        if option == "--until" { return .time }
        if lengthOptions.contains(option) { return .length }
        let isPositional = words.count > 1 && option.first != "-" && argument.first != "-"
        return isPositional && ["run", "temporarily"].contains(words.first) ? .timing : nil
    }

    /// The argument with the next words, removed from the rest, that make a longer duration or time of it.
    private static func joined(_ argument: String, _ rest: inout ArraySlice<String>, _ value: Value) -> String {
        // It follows `--timeout=` or `--until=`, a duration also a sign or the number of a rate.
        let signs = value == .length ? "=/+-" : argument.hasPrefix("--until=") ? "=" : ""
        let begin = argument.lastIndex { signs.contains($0) }.map(argument.index(after:)) ?? argument.startIndex
        let prefix = value == .time ? "at " : argument[begin...].hasPrefix("in") || value == .timing ? "" : "in "
        var (whole, text, end) = (argument, argument, rest.startIndex)
        var typed = prefix + argument[begin...]
        for place in rest.indices.prefix(TypedTiming.limit) {
            (typed, text) = ("\(typed) \(rest[place])", "\(text) \(rest[place])")
            if (try? TypedTiming(typed, .local)) != nil { (whole, end) = (text, place + 1) }
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
