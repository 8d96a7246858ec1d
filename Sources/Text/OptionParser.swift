/// The command line of a daemon: options with a value, flags and operands, in any order. `--` ends the options, and
/// `--name=value` is the same as `--name value`.
public struct OptionParser {
    /// One part of the command line.
    public enum Argument: Equatable, Sendable {
        case flag(String)
        case option(String, value: String)
        case operand(String)
    }

    /// Why the command line is not valid, as a sentence.
    public struct UsageError: Error, Equatable {
        /// Names the argument and the expectation. Control characters of the argument are written as escapes.
        public let sentence: String

        /// An error with a sentence of its own.
        public init(_ sentence: String) { self.sentence = sentence }

        /// An option that has a value of the wrong form; the expectation follows "use": `process or power-loss`.
        public init(invalid value: String, of option: String, expectation: String) {
            self.init("invalid \(option) '\(PrintableText.escape(value))': use \(expectation)")
        }
    }

    /// The duration that is the value of an option, in microseconds; it must be positive.
    public static func duration(_ value: String, of option: String) throws(UsageError) -> Int64 {
        do throws(DurationError) {
            let duration = try DurationParser.parse(value)
            guard duration > 0 else { throw .notADuration(value) }
            return duration
        } catch {
            throw UsageError("\(option): \(error)")
        }
    }

    private let flags: Set<String>
    private let options: Set<String>
    private var remaining: ArraySlice<String>
    private var hasEnded = false

    /// Parses arguments without the name of the program. Flags have no value, such as `--help`; options have one.
    public init(_ arguments: [String], flags: Set<String>, options: Set<String>) {
        remaining = arguments[...]
        self.flags = flags
        self.options = options
    }

    /// The next part of the command line; nil at its end. Throws that an option is unknown or lacks its value, or that
    /// a flag has one.
    public mutating func next() throws(UsageError) -> Argument? {
        guard let argument = remaining.popFirst() else { return nil }
        if hasEnded || !argument.hasPrefix("-") || argument == "-" { return .operand(argument) }
        if argument == "--" {
            hasEnded = true
            return try next()
        }
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts[0]
        if flags.contains(name) {
            guard parts.count == 1 else { throw UsageError("\(name) takes no value; see --help") }
            return .flag(name)
        }
        guard options.contains(name) else {
            throw UsageError("unknown option '\(PrintableText.escape(name))'; see --help")
        }
        guard let value = parts.count > 1 ? parts[1] : remaining.popFirst(), !value.isEmpty else {
            throw UsageError("\(name) needs a value; see --help")
        }
        return .option(name, value: value)
    }
}
