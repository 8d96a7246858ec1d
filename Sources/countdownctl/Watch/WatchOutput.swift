/// How a subcommand shows the countdowns that it follows, and how it waits.
typealias WatchOutput = (printer: any EventPrinter, waiting: any Waiter)

extension Output {
    /// Prints events, or only ends, until Ctrl-C.
    func lines(onlyEnds: Bool = false) throws(CommandFailure) -> WatchOutput {
        (LinePrinter(output: self, onlyEnds: onlyEnds), try Interruption())
    }

    /// A screen on a terminal, which shows and waits in one; otherwise lines or JSON objects.
    func watchOutput(of daemon: DaemonEndpoint, _ subject: FollowScreen.Subject) throws(CommandFailure) -> WatchOutput {
        guard !json, !isQuiet, let device = TerminalDevice.ofOutput() else { return try lines() }
        let session = try TerminalSession(FollowScreen(subject), on: device, of: daemon, palette: palette)
        return (session, session)
    }
}
