/// What was typed, put so that ArgumentParser takes it as it was meant. What stands behind `--` is left alone.
enum TypedArguments {
    /// The hidden option of `adjust` that stands for an amount with a minus sign.
    static let amountOption = "--by"

    static func normalize(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        let isAdjust = arguments.first == "adjust"
        return arguments[..<end].map { argument in
            // Without its value it would take the next argument for one.
            if argument == "--json" { return "--json=\(JSONStyle.short.rawValue)" }
            return isAdjust && isNegativeAmount(argument) ? "\(amountOption)=\(argument)" : argument
        } + arguments[end...]
    }

    /// `-1m`, `-.5h`: no option begins with a digit.
    private static func isNegativeAmount(_ argument: String) -> Bool {
        guard argument.first == "-", let second = argument.dropFirst().first else { return false }
        return second == "." || second.isASCII && second.isNumber
    }
}
