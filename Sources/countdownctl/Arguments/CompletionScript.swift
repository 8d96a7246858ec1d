/// The completion scripts of ArgumentParser, with what they lack.
enum CompletionScript {
    private static let bash = "#!/bin/bash\n"
    private static let zsh = "#compdef "
    private static let fish = "function __countdownctl_"

    /// Completes ArgumentParser's script for a shell; any other text stays as it is.
    static func completing(_ text: String, names: [String]) -> String {
        let list = names.joined(separator: " ")
        if text.hasPrefix(bash) {
            let reader = String(decoding: PackageResources.completion_bash, as: UTF8.self)
            return "\(text)\n\n\(replacing("@NAMES@", by: list, in: reader))"
        }
        if text.hasPrefix(zsh) { return replacing("'*:subcommands:'", by: "'1:subcommand:(\(list))'", in: text) }
        guard text.hasPrefix(fish) else { return text }
        let condition = "__countdownctl_should_offer_completions_for_positional \"countdownctl help\" -eq 1"
        return "\(text)\ncomplete -c 'countdownctl' -n '\(condition)' -fa '\(list)'"
    }

    private static func replacing(_ part: String, by other: String, in text: String) -> String {
        guard let range = text.firstRange(of: part) else { return text }
        return text[..<range.lowerBound] + other + text[range.upperBound...]
    }
}
