import Glibc
import IPC

/// A screen on a terminal: what is typed, told, said and signalled goes to the screen, and what the screen wants is done.
/// It waits with poll(2) for all of it at once.
final class TerminalSession<S: Screen>: Waiting {
    private(set) var screen: S
    private let signals: SignalDescriptor
    private var surface: ScreenSurface
    private var errands: ScreenErrands
    private var reader = InputReader()
    /// The code to exit with; nil until somebody wants to leave.
    private var status: CommandStatus?

    /// A screen, for a daemon where it makes calls.
    ///
    /// - Throws: that the system has no more room.
    init(_ screen: S, on device: consuming TerminalDevice, of daemon: Daemon?, palette: Palette) throws(Failure) {
        self.screen = screen
        surface = ScreenSurface(device, palette: palette)
        errands = ScreenErrands(of: daemon)
        signals = try SignalDescriptor([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD])
    }

    deinit { close() }

    var daemon: Daemon? { errands.daemon }

    var leavingStatus: CommandStatus { status ?? .interrupted }

    /// Whether somebody wants to leave.
    var isLeaving: Bool { status != nil }

    func wait(for descriptor: Int32?, until deadline: Client.Deadline?) -> Readiness {
        while status == nil {
            onTerminal { () throws(StreamFailure) in try surface.paint(screen) }
            if serve(descriptor, until: deadline) { return .readable }
            if let deadline, deadline.remainingUSec == 0, status == nil { return .timedOut }
        }
        return .interrupted
    }

    /// Lets the screen take what happened, and does what it wants.
    func take(_ event: ScreenEvent) {
        for action in screen.take(event) { perform(action) }
    }

    /// Serves whoever waits, so that a watch that never falls silent does not keep keys from being heard.
    func serveAll() {
        guard status == nil else { return }
        onTerminal { () throws(StreamFailure) in try surface.paint(screen) }
        _ = serve(nil, until: .passed)
    }

    /// Gives the terminal back, with what is to stay on it.
    func close() { surface.leave(screen) }
}

extension TerminalSession {
    private func perform(_ action: ScreenAction) {
        switch action {
        case .call(let request): take(errands.call(request))
        case .run(let words): take(errands.run(words))
        case .tell(let event): surface.keep(EventText().line(event).map { [$0] } ?? [])
        case .print(let lines): surface.keep(lines)
        case .leave(let status): leave(status)
        }
    }

    private func take(_ events: [ScreenEvent]) {
        for event in events { take(event) }
    }

    private func leave(_ status: CommandStatus) { self.status = self.status ?? status }

    /// Does something with the terminal. Where that fails nobody can see it any more.
    private func onTerminal(_ draw: () throws(StreamFailure) -> Void) {
        do {
            try draw()
        } catch {
            leave(.interrupted)
        }
    }
}

extension TerminalSession {
    /// Waits once for whatever comes first and serves it; whether the descriptor can be read.
    private func serve(_ descriptor: Int32?, until deadline: Client.Deadline?) -> Bool {
        var set = PollSet()
        let own = descriptor.map { set.add($0) }
        let input = surface.input.map { set.add($0) }
        let signalled = set.add(signals.descriptor)
        let answer = errands.answering.map { set.add($0) }
        let said = errands.speaking.map { set.add($0) }
        let pause = reader.isPartial ? Client.Deadline.after(microseconds: 50_000) : nil
        set.wait(until: [deadline, surface.blinking.next, pause])

        if set.isReady(input) { read() } else if pause != nil { take(reader.flush()) }
        if set.isReady(said) { errands.listen() }
        if set.isReady(signalled) { takeSignals() }
        if set.isReady(answer) { take(errands.takeAnswer()) }
        surface.blinking.pass()
        return set.isReady(own)
    }

    private func read() {
        guard let input = surface.input else { return }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe Glibc.read(input, &buffer, buffer.count)
        if count > 0 { return take(reader.read(buffer[..<count])) }
        if count < 0, errno == EINTR || errno == EAGAIN { return }
        // The terminal is gone.
        leave(.interrupted)
    }

    private func take(_ inputs: [TerminalInput]) {
        for input in inputs where status == nil {
            surface.blinking.begin()
            switch input {
            case .key(.control("c")): leave(.interrupted)
            case .key(let key): take(.key(key))
            case .paste(let text): take(.paste(text))
            case .focus(let isFocused): take(.focus(isFocused))
            case .cursor(let row, _): surface.found(row)
            case .click(let row, let column): if surface.hasTarget(row: row, column: column) { take(.click) }
            }
        }
    }

    private func takeSignals() {
        while let signal = signals.next() {
            switch signal {
            case SIGCHLD: take(errands.reap())
            case SIGWINCH: surface.disturb()
            case SIGCONT: onTerminal { () throws(StreamFailure) in try surface.resume() }
            case SIGTSTP:
                onTerminal { () throws(StreamFailure) in try surface.pause { SignalDescriptor.obey(SIGTSTP) } }
            case SIGINT: leave(.interrupted)
            default:
                errands.terminate()
                close()
                SignalDescriptor.obey(signal)
            }
        }
    }
}
