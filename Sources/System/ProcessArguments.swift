import Glibc

/// The command line of this process.
public enum ProcessArguments {
    /// Reads the arguments that follow the program's name.
    ///
    /// They come from the kernel. The Swift runtime of a program that contains it looks for them in front of the
    /// environment, and finds none if a preloaded library has moved the environment by calling `setenv`. The runtime's
    /// arguments are used only if the file cannot be read, for example because `/proc` is not mounted.
    ///
    /// - Parameter path: the kernel's file with the arguments, each of which ends with a zero byte.
    /// - Returns: the arguments without the program's name.
    public static func read(from path: String = "/proc/self/cmdline") -> [String] {
        guard let arguments = arguments(in: path) else { return Array(CommandLine.arguments.dropFirst()) }
        return Array(arguments.dropFirst())
    }

    /// Finds the first argument of this process that is not UTF-8, among as many as `end`, the name of the program
    /// included. As a string, it would name another key or file. It has U+FFFD in place of its invalid bytes.
    public static func firstInvalid(before end: Int) -> String? {
        for index in 0..<min(end, Int(CommandLine.argc)) {
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { return nil }
            if unsafe String(validatingCString: argument) == nil { return unsafe String(cString: argument) }
        }
        return nil
    }

    /// The bytes of words that are the last arguments of this process, as a command gets them, each with a zero byte behind
    /// it. A word that is not such an argument becomes its UTF-8.
    static func bytes(of words: [String]) -> [[CChar]] {
        var found = words.map { Array($0.utf8CString) }
        var argument = Int(CommandLine.argc)
        for place in words.indices.reversed() {
            argument -= 1
            guard argument > 0, let text = unsafe CommandLine.unsafeArgv[argument],
                unsafe String(cString: text) == words[place]
            else { break }
            found[place] = unsafe Array(UnsafeBufferPointer(start: text, count: strlen(text) + 1))
        }
        return found
    }

    private static func arguments(in path: String) -> [String]? {
        guard let text = try? StoredText.bytes(of: path), text.last == 0 else { return nil }
        return text.dropLast().split(separator: 0, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
