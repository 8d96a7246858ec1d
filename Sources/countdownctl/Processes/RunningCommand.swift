import Glibc

/// A command that goes on, with nothing on its standard input; what it says is kept for its end.
struct RunningCommand: ~Copyable {
    private let process: pid_t
    private let pipe: Int32
    private var output = CommandOutput()
    private var isSilent = false

    /// Starts it.
    ///
    /// - Throws: why it could not be started.
    init(_ command: ShellCommand) throws(ProcessLaunch.NotStarted) {
        let nothing = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        var ends: [Int32] = [-1, -1]
        guard nothing >= 0, unsafe Glibc.pipe(&ends) == 0 else {
            throw ProcessLaunch.NotStarted(name: command.name, errno: errno)
        }
        defer { for descriptor in [nothing, ends[1]] { close(descriptor) } }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let launch = ProcessLaunch(words: command.words, input: nothing, output: ends[1], errors: ends[1])
        do {
            process = try launch.start()
        } catch {
            close(ends[0])
            throw error
        }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        pipe = ends[0]
    }

    deinit {
        close(pipe)
    }

    /// Readable when it has said something; nil where nothing more comes.
    var descriptor: Int32? { isSilent ? nil : pipe }

    /// Takes what it has said by now.
    mutating func read() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while !isSilent {
            let count = unsafe Glibc.read(pipe, &buffer, buffer.count)
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
        var status: Int32 = 0
        guard unsafe waitpid(process, &status, WNOHANG) == process else { return nil }
        read()
        return CommandEnding(cause: .ended(ProcessEnding(waitStatus: status)), lines: output.lines)
    }

    /// Asks it to end.
    func terminate() { kill(process, SIGTERM) }
}
