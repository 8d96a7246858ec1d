import System

/// A text of somebody else's in a sentence: in quotes, and safe to show.
func quoted(_ text: String) -> String { "'\(PrintableText.escape(text))'" }

extension String {
    /// The text with another put in the place of each occurrence of a part, which is not empty.
    func substituting(_ other: String, for part: String) -> String {
        var rest = self[...]
        var result = ""
        while let first = rest.first {
            if rest.hasPrefix(part) {
                result += other
                rest = rest.dropFirst(part.count)
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return result
    }
}
