/// How a subcommand shows the countdowns that it follows, how it waits, and the time between two ticks that it needs, in
/// microseconds; nil for the daemon's rule, 0 for none.
typealias WatchOutput = (printer: any EventPrinter, waiting: any Waiter, tick: Int64?)

/// How countdowns are followed, as it was typed.
struct FollowStyle {
    /// The time between two ticks in microseconds; nil for the daemon's rule. Lines are then printed more seldom.
    var tick: Int64?
    /// Whether lines are printed on a terminal, too.
    var isPlain = false
}

extension Output {
    /// Prints events, or only ends, until Ctrl-C.
    func lines(_ style: FollowStyle = FollowStyle(), onlyEnds: Bool = false) throws(CommandFailure) -> WatchOutput {
        let pace = style.tick == nil ? TickPace() : nil
        let printer = LinePrinter(output: self, onlyEnds: onlyEnds, pace: pace)
        return (printer, try Interruption(), onlyEnds ? 0 : style.tick)
    }

    /// A screen on a terminal, which shows, waits and counts by itself; otherwise lines or JSON objects.
    func watchOutput(
        of daemon: DaemonEndpoint,
        _ subject: FollowScreen.Subject,
        _ style: FollowStyle
    ) throws(CommandFailure) -> WatchOutput {
        guard !json, !isQuiet, !style.isPlain, let device = TerminalDevice.ofOutput() else {
            return try lines(style)
        }
        let session = try TerminalSession(FollowScreen(subject), on: device, of: daemon, palette: palette)
        return (session, session, 0)
    }
}
