import System

/// The end of what a command says, as lines that may be shown.
struct CommandOutput {
    /// More than a terminal shows; what comes before is dropped.
    static let limit = 16 << 10

    private var bytes: [UInt8] = []

    mutating func take(_ more: some Sequence<UInt8>) {
        bytes += more
        if bytes.count > 2 * Self.limit { bytes.removeFirst(bytes.count - Self.limit) }
    }

    /// The lines, without those that are empty.
    var lines: [String] {
        bytes.suffix(Self.limit).split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map { line in
            PrintableText.escape(String(decoding: line, as: UTF8.self), doublesBackslashes: false)
        }
    }
}
