import Glibc

/// The search for programs.
public enum ProgramSearch {
    /// The path of the program that a word names: with a slash the word itself, otherwise the first one in a `PATH`. Nil if there is
    /// none that can be executed.
    public static func find(_ word: String, path: String) -> String? {
        let candidates = word.contains("/") ? [word] : path.split(separator: ":").map { "\($0)/\(word)" }
        return candidates.first { candidate in
            unsafe access(candidate, X_OK) == 0 && (try? FileStatus.read(candidate))?.isDirectory == false
        }
    }

    /// The path of the program that posix_spawnp(3) has found, from its name to the path both with a zero byte at the end.
    static func find(_ name: [CChar]) -> [CChar]? {
        // A word with a slash keeps its bytes, even if these are not UTF-8.
        if name.contains(CChar(bitPattern: UInt8(ascii: "/"))) { return name }
        let path = Environment.value(of: "PATH") ?? "/bin:/usr/bin"
        // A folder without a name is the working directory.
        let folders = path.split(separator: ":", omittingEmptySubsequences: false).map { $0.isEmpty ? "." : $0 }
        let word = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        return find(word, path: folders.joined(separator: ":")).map { Array($0.utf8CString) }
    }
}
