/// A word of a command as a shell takes it.
enum ShellWord {
    /// The word as it is, or in single quotes where a shell would see more in it than a word.
    static func quote(_ word: String) -> String {
        if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
        return "'\(word.substituting("'\\''", for: "'"))'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "+-_./:,@%=".utf8.contains(byte)
        }
    }
}
