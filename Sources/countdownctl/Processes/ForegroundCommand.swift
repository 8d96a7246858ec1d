import Glibc

/// A command that is run in this program's place: it has its streams and its terminal, and the signals that are sent
/// to this program are passed on to it.
struct ForegroundCommand {
    let words: [String]
    /// What is added to its environment.
    var variables: [(name: String, value: String)] = []
    /// A process that it cannot do without: where that ends first, the command is asked to end.
    var support: StartedProcess?

    /// Runs it to its end.
    ///
    /// - Throws: why it could not be started.
    func run() throws(ProcessLaunch.NotStarted) -> ProcessEnding {
        var signals = Self.passedOn
        var before = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        // Where whoever started this program ignores it, the system would reap what is to be waited for.
        signal(SIGCHLD, SIG_DFL)
        let process = try ProcessLaunch(words: words, variables: variables, mask: before).start()
        var support = support
        while true {
            if let ending = process.ending() { return ending }
            if support?.hasEnded == true {
                process.send(SIGTERM)
                support = nil
            }
            var told = unsafe siginfo_t()
            let number = unsafe sigwaitinfo(&signals, &told)
            // What the terminal sends, it has sent to the command as well.
            guard number > 0, number != SIGCHLD, unsafe told.si_code != SI_KERNEL else { continue }
            process.send(number)
        }
    }

    /// What is passed on, and what tells of its end.
    private static var passedOn: sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in [SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH] {
            unsafe sigaddset(&signals, number)
        }
        return signals
    }
}
