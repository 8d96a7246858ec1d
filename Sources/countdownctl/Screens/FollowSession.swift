import IPC

/// What a watch tells, on a screen.
extension TerminalSession: EventPrinter where S == FollowScreen {
    func show(_ events: [Event]) throws(StreamFailure) {
        for event in events { take(.told(event)) }
        serveAll()
    }

    func tell(_ notice: EventStream.Notice, _ output: Output) throws(StreamFailure) { take(.notice(notice)) }

    func rest() throws(StreamFailure) { close() }
}
