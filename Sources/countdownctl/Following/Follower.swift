/// How a verb that follows countdowns shows them, and how it waits meanwhile.
struct Follower {
    var printer: any EventPrinter
    let waiting: any Waiting

    /// What only prints, until Ctrl-C.
    ///
    /// - Throws: that the system has no more room.
    init(_ printer: any EventPrinter) throws(Failure) {
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
    /// How events are shown to whoever reads them: a screen on a terminal, else lines or objects.
    func follower(of daemon: Daemon, _ subject: FollowScreen.Subject) throws(Failure) -> Follower {
        if let json { return try Follower(JSONEventPrinter(style: json)) }
        if isQuiet { return try Follower(SilentEventPrinter()) }
        guard let device = TerminalDevice(ofOutput: []) else { return try Follower(LineEventPrinter()) }
        let screen = FollowScreen(subject)
        return Follower(try TerminalSession(screen, on: device, of: daemon, palette: palette))
    }
}
