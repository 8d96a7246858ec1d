import Glibc
import IPC
import TestSupport
import Testing

@Suite("A log that nobody reads")
final class UnreadLogTests: DirectorySuite {
    enum Stream: CaseIterable {
        case pipe, stoppedTerminal
    }

    /// The end at which the log is read, and the path at which the daemon opens it.
    private func open(_ stream: Stream) throws -> (reader: Int32, path: String, terminal: TerminalPair?) {
        guard stream == .stoppedTerminal else {
            let path = directory.path(of: "pipe")
            guard unsafe mkfifo(path, 0o600) == 0 else { throw SystemCallFailure("mkfifo") }
            return (unsafe Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC), path, nil)
        }
        let terminal = try TerminalPair()
        tcflow(terminal.terminal, TCOOFF)
        var name = [CChar](repeating: 0, count: 128)
        guard unsafe ttyname_r(terminal.terminal, &name, name.count) == 0 else { throw SystemCallFailure("ttyname_r") }
        let path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        return (terminal.keyboard, path, terminal)
    }

    @Test(
        "the daemon answers, ends countdowns and stops; a line that was dropped is counted in the log",
        arguments: Stream.allCases
    )
    func answers(_ stream: Stream) throws {
        let (reader, path, terminal) = try open(stream)
        defer { if terminal == nil { close(reader) } }
        let launcher = ["/bin/sh", "-c", #"exec "$0" "$@" 2> \#(path)"#]
        let daemon = try DaemonProcess(starting: launcher, in: directory)
        try daemon.awaitReadiness()
        if stream == .pipe { while unsafe write(reader, "x", 1) == 1 {} }
        let caller = try Caller(of: daemon)
        let hostile = try daemon.connect()
        try? hostile.send(Array(repeating: UInt8(ascii: "x"), count: 600_000))
        #expect(throws: (any Error).self) { try hostile.message() }
        _ = try caller.call(Start(key: "tea", durationUSec: 1))
        #expect(try caller.call(Wait(key: "tea")).countdown.state == .finished)

        if let terminal { tcflow(terminal.terminal, TCOON) }
        var text = ""
        try waitUntil("the number of dropped lines") {
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            var polled = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&polled, 1, 1_000) == 1 else { return false }
            let count = unsafe read(reader, &bytes, bytes.count)
            text += String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            return text.contains("because standard error had no room")
        }
        let lost = stream == .pipe ? "1 line was lost" : "2 lines were lost"
        #expect(text.contains("countdownd: warning: \(lost), because standard error had no room"), "\(text)")
        #expect(try daemon.terminate() == .exited(code: 0))
    }
}
