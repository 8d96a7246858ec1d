import IPC

/// How a subcommand shows the countdowns that it follows, and how it waits.
struct WatchOutput {
    var printer: any EventPrinter
    let waiting: any Waiter

    /// Prints only, until Ctrl-C.
    ///
    /// - Throws: that the system has no more room.
    init(_ printer: any EventPrinter) throws(CommandFailure) {
        self.printer = printer
        waiting = try Interruption()
    }

    /// A screen, which shows and waits in one.
    init(_ session: TerminalSession<FollowScreen>) {
        printer = session
        waiting = session
    }
}

extension Output {
    /// The output of events: a screen on a terminal, otherwise lines or JSON objects.
    func watchOutput(of daemon: DaemonEndpoint, _ subject: FollowScreen.Subject) throws(CommandFailure) -> WatchOutput {
        if let json { return try WatchOutput(JSONEventPrinter(style: json)) }
        if isQuiet { return try WatchOutput(SilentEventPrinter()) }
        guard let device = TerminalDevice(ofOutput: []) else { return try WatchOutput(LineEventPrinter()) }
        let screen = FollowScreen(subject)
        return WatchOutput(try TerminalSession(screen, on: device, of: daemon, palette: palette))
    }
}
