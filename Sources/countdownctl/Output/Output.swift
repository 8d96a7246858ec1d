import Glibc
import IPC
import System
import Varlink

/// The output of a subcommand: data on standard output, messages on standard error.
struct Output {
    /// Whether messages are left out, and data unless it is JSON.
    let isQuiet: Bool
    /// Whether data is JSON objects, one a line.
    let json: Bool
    let palette: Palette
    /// Whether a message may wait until standard error has room; otherwise it is dropped and counted.
    var isPatient = true

    /// The same output for a loop that must not wait for the reader of its messages.
    var impatient: Output {
        var output = self
        output.isPatient = false
        return output
    }

    /// Prints a message unless it is quiet.
    func say(_ sentence: String) {
        if !isQuiet { warn(sentence) }
    }

    /// Prints an error or warning.
    func warn(_ sentence: String) { pass(on: Array("\(sentence)\n".utf8)) }

    /// Writes lines to standard error.
    func pass(on lines: [UInt8]) {
        guard isPatient else { return StandardError.shared.write(lines, noticePrefix: "countdownctl: ") }
        // A failing write to standard error cannot be reported.
        try? StandardStream.error.write(lines)
    }

    func print(_ lines: [String]) throws(StreamFailure) {
        try StandardStream.output.write(Array(lines.map { "\($0)\n" }.joined().utf8))
    }

    /// Prints JSON text as lines of their own.
    func print(json text: [UInt8]) throws(StreamFailure) {
        try StandardStream.output.write(text + [UInt8(ascii: "\n")])
    }
}

/// A stream that every process has. Its writes are whole and go out at once.
struct StandardStream: Sendable {
    static let input = StandardStream(descriptor: STDIN_FILENO)
    static let output = StandardStream(descriptor: STDOUT_FILENO)
    static let error = StandardStream(descriptor: STDERR_FILENO)

    let descriptor: Int32

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Its columns and rows; nil if it is not a terminal or does not report them.
    var size: (columns: Int, rows: Int)? {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether it is a pipe, which reports when its reader leaves.
    var isPipe: Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    func write(_ bytes: [UInt8]) throws(StreamFailure) {
        do throws(SystemFailure) {
            try Descriptor.writeAll(bytes.span, to: descriptor)
        } catch {
            throw StreamFailure(error.code)
        }
    }
}

enum StreamFailure: Error, Equatable {
    /// The reader has left.
    case closed
    case failed(errno: Int32)

    fileprivate init(_ errno: Int32) { self = errno == EPIPE ? .closed : .failed(errno: errno) }
}

/// The colours of a rendering, if it has any.
struct Palette: Equatable {
    let isColoured: Bool

    static let plain = Palette(isColoured: false)

    enum Tint: Int {
        case bold = 1
        case faint = 2
        case red = 31
        case green = 32
        case yellow = 33

        init?(_ state: Countdown.State) {
            switch state {
            case .running: self = .green
            case .paused: self = .yellow
            case .finished: return nil
            case .cancelled: self = .faint
            }
        }
    }

    /// The text in a colour, by a sequence of ECMA-48.
    func paint(_ text: String, _ tint: Tint?) -> String {
        guard isColoured, let tint else { return text }
        return "\u{1B}[\(tint.rawValue)m\(text)\u{1B}[0m"
    }
}
