import Glibc
import System
import TestSupport
import Testing

@Suite("Standard error that nobody reads", .timeLimit(.minutes(5)))
struct StandardErrorTests {
    enum Reader: CaseIterable {
        case pipe, pipeOfAnotherUser, terminal, stoppedTerminal, terminalOfAnotherUser, socket
    }

    /// A stream with the end at which it is read.
    private final class Stream {
        let reading: Int32
        let writing: Int32
        let stream: StandardError
        private let terminal: TerminalPair?

        init(_ reader: Reader) throws {
            var ends: [Int32] = [-1, -1]
            switch reader {
            case .pipe, .pipeOfAnotherUser:
                guard unsafe pipe(&ends) == 0 else { throw SystemCallFailure("pipe") }
                terminal = nil
            case .socket:
                let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
                guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemCallFailure("socketpair") }
                terminal = nil
            case .terminal, .stoppedTerminal, .terminalOfAnotherUser:
                let terminal = try TerminalPair()
                ends = [terminal.keyboard, terminal.terminal]
                if reader == .stoppedTerminal { tcflow(terminal.terminal, TCOOFF) }
                self.terminal = terminal
            }
            (reading, writing) = (ends[0], ends[1])
            let isForeign = reader == .pipeOfAnotherUser || reader == .terminalOfAnotherUser
            stream = StandardError(writing, opensAgain: !isForeign)
        }

        deinit {
            guard terminal == nil else { return }
            close(reading)
            close(writing)
        }

        func read() throws -> String {
            if terminal != nil { tcflow(writing, TCOON) }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            var polled = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&polled, 1, 20_000) == 1 else { throw SystemCallFailure("poll") }
            let count = unsafe Glibc.read(reading, &bytes, bytes.count)
            // A terminal writes line ends as CR LF, which is one character of a String.
            return String(decoding: bytes.prefix(max(0, count)).filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        }
    }

    @Test(
        "a line without room is dropped, and their number is written by itself once there is room",
        arguments: Reader.allCases
    )
    func counts(_ reader: Reader) throws {
        let stream = try Stream(reader)
        let flags = fcntl(stream.writing, F_GETFL)
        let filler = String(repeating: "-", count: 100)
        let count = 20_000
        for number in 0..<count { stream.stream.write(line: "\(number) \(filler) end", noticePrefix: "p: ") }
        #expect(fcntl(stream.writing, F_GETFL) == flags, "the mode of the shared descriptor has not changed")

        var text = ""
        var (written, lost, last) = (0, 0, -1)
        while written + lost < count {
            text += try stream.read()
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            text = String(lines.last ?? "")
            for line in lines.dropLast() {
                if line.hasSuffix(" \(filler) end"), let number = line.split(separator: " ").first.flatMap({ Int($0) })
                {
                    #expect(number > last)
                    (written, last) = (written + 1, number)
                }
                let isNotice = line.hasPrefix("p: ") && line.hasSuffix(" lost, because standard error had no room")
                if isNotice { lost += Int(line.split(separator: " ")[1]) ?? 0 }
            }
        }
        #expect(written > 0 || reader == .stoppedTerminal)
        #expect(lost > 0 && written + lost == count)
        // A terminal that was read may still have no room for a moment; then the number of dropped lines comes instead.
        repeat {
            stream.stream.write(line: "again", noticePrefix: "p: ")
            text += try stream.read()
        } while !text.hasSuffix("again\n")
    }

    @Test("without a reader, lines are lost, and the next one that is read says so")
    func noReader() throws {
        signal(SIGPIPE, SIG_IGN)
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "fifo")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        let first = unsafe open(path, O_RDWR | O_CLOEXEC)
        let writing = unsafe open(path, O_WRONLY | O_CLOEXEC)
        let stream = StandardError(writing)
        close(first)
        for _ in 1...3 { stream.write(line: "lost", noticePrefix: "p: ") }
        let second = unsafe open(path, O_RDONLY | O_CLOEXEC)
        stream.write(line: "read", noticePrefix: "p: ")
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe read(second, &bytes, bytes.count)
        #expect(
            String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
                == "p: 3 lines were lost, because standard error had no room\nread\n"
        )
        close(second)
        close(writing)
    }
}
