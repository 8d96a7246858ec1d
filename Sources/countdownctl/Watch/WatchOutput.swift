import IPC

/// How a subcommand shows the countdowns that it follows, and how it waits.
struct WatchOutput {
    var printer: any EventPrinter
    let waiting: any Waiter

    /// Prints only, until Ctrl-C.
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
    /// Prints events a line each.
    var linePrinter: any EventPrinter {
        if let json { return JSONEventPrinter(style: json) }
        return isQuiet ? SilentEventPrinter() : LineEventPrinter()
    }

    /// The output of events: a screen on a terminal, otherwise lines or JSON objects.
    func watchOutput(of daemon: DaemonEndpoint, _ subject: FollowScreen.Subject) throws(CommandFailure) -> WatchOutput {
        guard json == nil, !isQuiet, let device = TerminalDevice(ofOutput: []) else {
            return try WatchOutput(linePrinter)
        }
        let screen = FollowScreen(subject)
        return WatchOutput(try TerminalSession(screen, on: device, of: daemon, palette: palette))
    }
}
