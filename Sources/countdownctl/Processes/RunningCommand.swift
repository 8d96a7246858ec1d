import Glibc

/// A command that goes on, with nothing on its standard input; what it says is kept for its end.
struct RunningCommand: ~Copyable {
    private let process: StartedProcess
    private let pipe: Pipe.End
    private var output = CommandOutput()
    private var isSilent = false

    /// Starts it.
    ///
    /// - Throws: why it could not be started.
    init(_ command: ShellCommand) throws(ProcessLaunch.NotStarted) {
        let nothing = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(nothing) }
        guard nothing >= 0, let pipe = Pipe() else {
            throw ProcessLaunch.NotStarted(name: command.name, errno: errno)
        }
        let end = pipe.writing.descriptor
        process = try ProcessLaunch(words: command.words, input: nothing, output: end, errors: end).start()
        pipe.reading.stopBlocking()
        self.pipe = pipe.reading
    }

    /// Readable when it has said something; nil where nothing more comes.
    var descriptor: Int32? { isSilent ? nil : pipe.descriptor }

    /// Takes what it has said by now.
    mutating func read() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while !isSilent {
            let count = unsafe Glibc.read(pipe.descriptor, &buffer, buffer.count)
            if count > 0 {
                output.take(buffer[..<count])
            } else if count == 0 || errno != EINTR {
                isSilent = count == 0 || errno != EAGAIN
                return
            }
        }
    }

    /// How it ended; nil where it has not. Asked for once after that, as the process is gone then.
    mutating func ending() -> CommandEnding? {
        guard let ending = process.ending() else { return nil }
        read()
        return CommandEnding(cause: .ended(ending), lines: output.lines)
    }

    /// Asks it to end.
    func terminate() { process.send(SIGTERM) }
}
