import Glibc
import IPC
import Varlink

/// Where a verb puts what it has to say: data on standard output, messages on standard error.
struct Output {
    /// Whether what only informs is left out, data as well where they were not asked for as JSON.
    let isQuiet: Bool
    /// How the interface's objects are printed; nil where a person reads.
    let json: JSONStyle?
    let palette: Palette

    /// Tells what was done.
    func say(_ sentence: String) {
        if !isQuiet { warn(sentence) }
    }

    /// Tells what is wrong, be it wanted or not.
    func warn(_ sentence: String) {
        // Nobody could be told of it.
        try? StandardStream.error.write(Array("\(sentence)\n".utf8))
    }

    /// Prints lines of data.
    func print(_ lines: [String]) throws(StreamFailure) {
        guard !lines.isEmpty else { return }
        var bytes: [UInt8] = []
        for line in lines {
            bytes += line.utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        try StandardStream.output.write(bytes)
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

    /// How many columns and rows it has; nil where it is no terminal, or one that does not tell.
    var size: (columns: Int, rows: Int)? {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether it is a pipe, which tells when its reader leaves.
    var isPipe: Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    /// Writes all the bytes.
    func write(_ bytes: [UInt8]) throws(StreamFailure) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
            }
            if count >= 0 {
                written += count
            } else if errno != EINTR {
                guard errno == EAGAIN, waitForRoom() else { throw StreamFailure(errno) }
            }
        }
    }

    /// Whoever shares the stream may have set it not to block.
    private func waitForRoom() -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&request, 1, -1) > 0 || errno == EINTR
    }
}

/// Why something could not be written.
enum StreamFailure: Error, Equatable {
    /// Whoever read it has left.
    case closed
    case failed(errno: Int32)

    fileprivate init(_ errno: Int32) { self = errno == EPIPE ? .closed : .failed(errno: errno) }
}

/// Lets a write to a pipe that nobody reads fail instead of ending the process: of several changes that were asked for
/// together none is left out because of what another one printed.
func ignoreBrokenPipes() {
    signal(SIGPIPE, SIG_IGN)
}

/// The colours of a rendering, if it has any.
struct Palette: Equatable {
    /// Whether anything is coloured.
    let isColoured: Bool

    static let plain = Palette(isColoured: false)

    enum Tint: Int {
        case bold = 1
        case faint = 2
        case red = 31
        case green = 32
        case yellow = 33
    }

    /// The text in a colour, by a sequence of ECMA-48.
    func paint(_ text: String, _ tint: Tint?) -> String {
        guard isColoured, let tint else { return text }
        return "\u{1B}[\(tint.rawValue)m\(text)\u{1B}[0m"
    }
}

extension Palette.Tint {
    /// The colour of a state.
    init?(_ state: State) {
        switch state {
        case .running: self = .green
        case .paused: self = .yellow
        case .finished: return nil
        case .cancelled: self = .faint
        }
    }
}
