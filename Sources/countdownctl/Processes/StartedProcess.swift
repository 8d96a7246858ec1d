import Glibc

/// A process that was started here, and is reaped here.
struct StartedProcess {
    let identifier: pid_t

    /// How it ended; nil where it has not. Asked for once after that, as the process is gone then.
    func ending() -> ProcessEnding? {
        var status: Int32 = 0
        guard unsafe waitpid(identifier, &status, WNOHANG) == identifier else { return nil }
        return ProcessEnding(waitStatus: status)
    }

    /// Waits for its end. Asked for once, as the process is gone then.
    func awaitEnding() -> ProcessEnding {
        var status: Int32 = 0
        while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        return ProcessEnding(waitStatus: status)
    }

    /// Whether it has ended; it can still be asked how.
    var hasEnded: Bool {
        var told = unsafe siginfo_t()
        let isTold = unsafe waitid(P_PID, id_t(identifier), &told, WEXITED | WNOHANG | WNOWAIT) == 0
        return unsafe isTold && told.si_signo == SIGCHLD
    }

    /// Sends it a signal.
    func send(_ signal: Int32) { kill(identifier, signal) }

    /// Sends a signal to all that it has started, where it has a process group of its own.
    func sendToGroup(_ signal: Int32) { kill(-identifier, signal) }
}

/// How a process ended.
enum ProcessEnding: Equatable {
    case exited(code: Int32)
    case killed(signal: Int32)

    /// From the status that wait(2) tells.
    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7F
        self = signal == 0 ? .exited(code: waitStatus >> 8 & 0xFF) : .killed(signal: signal)
    }

    /// The code by which a shell tells of it.
    var status: CommandStatus {
        switch self {
        case .exited(let code): CommandStatus(rawValue: code)
        case .killed(let signal): CommandStatus(rawValue: 128 + signal)
        }
    }
}
