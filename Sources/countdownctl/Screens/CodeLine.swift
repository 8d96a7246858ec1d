import CountdownControls
import Glibc
import IPC
import System

/// A code that comes as a line of standard input.
struct CodeLine {
    /// The longest line that is read.
    private static let limit = 4_096

    let input: CodeField
    let isHidden: Bool

    /// Reads the line and prints the code in it.
    func read(until deadline: MonotonicDeadline?) throws -> ExitCode {
        if StandardStream.input.isTerminal {
            guard !isHidden else {
                throw CommandFailure.usage("this terminal cannot hide a code")
            }
            try StandardStream.error.write(Array("code (\(input.length) characters): ".utf8))
        }
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n"), line.count < Self.limit {
            var set = PollSet()
            let place = set.add(STDIN_FILENO)
            set.add(deadline)
            set.wait()
            guard set.isReady(place) else {
                if deadline?.remainingUSec == 0 { return .timedOut }
                continue
            }
            // One byte at a time: input after the line is left for the next program.
            var byte: UInt8 = 0
            let count = unsafe Glibc.read(STDIN_FILENO, &byte, 1)
            if count == 0 || count < 0 && errno != EINTR { break }
            if count > 0 { line.append(byte) }
        }
        var input = input
        input.paste(String(decoding: line, as: UTF8.self))
        guard let code = input.code else {
            let kind = input.alphabet == .digits ? "digits" : "letters and digits"
            throw CommandFailure.usage("the input has no code of \(input.length) \(kind)")
        }
        try StandardStream.output.write(Array("\(code)\n".utf8))
        return .success
    }
}
