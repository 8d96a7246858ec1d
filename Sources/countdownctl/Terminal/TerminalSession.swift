import Glibc
import IPC
import System

/// A screen on a terminal: passes keys, events, replies and signals to the screen and performs its actions.
/// It waits with poll(2) for all of it at once.
final class TerminalSession<S: Screen>: Waiter {
    private(set) var screen: S
    private let signals: SignalDescriptor
    private var surface: ScreenSurface
    /// Nil if the screen makes no calls.
    private let daemon: DaemonEndpoint?
    /// The calls that the screen asked for, which are made one at a time.
    private var requests: [CountdownRequest] = []
    private var exchange: PendingRequest?
    private var command: RunningCommand?
    private var reader = InputReader()
    /// The exit code; nil until the screen is left.
    private var status: ExitCode?

    /// Creates a session, with a daemon if the screen makes calls.
    init(
        _ screen: S,
        on device: consuming TerminalDevice,
        of daemon: DaemonEndpoint?,
        palette: Palette
    ) throws(CommandFailure) {
        self.screen = screen
        surface = ScreenSurface(device, palette: palette)
        self.daemon = daemon
        signals = try SignalDescriptor(reading: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD])
    }

    deinit { finish() }

    var leavingStatus: ExitCode { status ?? .interrupted }

    func wait(for descriptor: Int32?, until deadline: MonotonicDeadline?) -> WaitResult {
        while status == nil {
            onTerminal { () throws(StreamFailure) in try surface.paint(screen) }
            if serve(descriptor, until: deadline) { return .readable }
            if let deadline, deadline.remainingUSec == 0, status == nil { return .timedOut }
        }
        return .interrupted
    }

    /// Passes an event to the screen and performs its actions.
    private func handle(_ event: ScreenEvent) {
        for action in screen.handle(event) { perform(action) }
    }

    /// Handles pending input once, so that a busy watch does not block the keys.
    private func serveAll() {
        guard status == nil else { return }
        onTerminal { () throws(StreamFailure) in try surface.paint(screen) }
        _ = serve(nil, until: .passed)
    }

    private func perform(_ action: ScreenAction) {
        switch action {
        case .call(let request):
            requests.append(request)
            send()
        case .run(let words): run(words)
        case .tell(let event): surface.keep(CountdownText().line(event).map { [$0] } ?? [])
        case .print(let lines): surface.keep(lines)
        case .leave(let status): leave(status)
        }
    }

    /// Sends the next call if none is pending. The failure of a call that could not be sent is its answer.
    private func send() {
        while let daemon, exchange == nil, !requests.isEmpty {
            do {
                exchange = try PendingRequest(requests.removeFirst(), of: daemon)
            } catch {
                handle(.answered(.failure(error)))
            }
        }
    }

    private func run(_ words: ShellCommand) {
        do {
            command = try RunningCommand(words)
        } catch {
            handle(.ended(CommandEnding(cause: .notRun(errno: error.errno))))
        }
    }

    private func leave(_ status: ExitCode) { self.status = self.status ?? status }

    /// Draws on the terminal. If that fails, the terminal is gone, and the session ends.
    private func onTerminal(_ draw: () throws(StreamFailure) -> Void) {
        do {
            try draw()
        } catch {
            leave(.interrupted)
        }
    }

    /// Waits once for whatever comes first and serves it; whether the descriptor can be read.
    private func serve(_ descriptor: Int32?, until deadline: MonotonicDeadline?) -> Bool {
        var set = PollSet()
        let own = descriptor.map { set.add($0) }
        let input = surface.input.map { set.add($0) }
        let signalled = set.add(signals.descriptor)
        let answer = exchange?.descriptor.map { set.add($0) }
        let said = command?.descriptor.map { set.add($0) }
        let pause = reader.isPartial ? MonotonicDeadline.after(microseconds: 50_000) : nil
        set.add(deadline)
        set.add(pause)
        set.wait()

        if set.isReady(input) { read(isClosed: set.isClosed(input)) } else if pause != nil { handle(reader.flush()) }
        if set.isReady(said) { command?.read() }
        if set.isReady(signalled) { handleSignals() }
        if set.isReady(answer), let result = exchange?.answer() {
            exchange = nil
            handle(.answered(result))
            send()
        }
        return set.isReady(own)
    }

    private func read(isClosed: Bool) {
        guard let input = surface.input else { return }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe Glibc.read(input, &buffer, buffer.count)
        if count > 0 { return handle(reader.read(buffer[..<count])) }
        // If a key sends a signal, the kernel drops the input before it, also after poll(2) has reported that input.
        if count == 0 ? !isClosed : errno == EINTR || errno == EAGAIN { return }
        // The terminal is gone.
        leave(.interrupted)
    }

    private func handle(_ inputs: [TerminalInput]) {
        for input in inputs where status == nil {
            switch input {
            case .key(.control("c")): leave(.interrupted)
            case .key(let key): handle(.key(key))
            case .paste(let text): handle(.paste(text))
            case .focus(let isFocused): handle(.focus(isFocused))
            case .cursor(let row, _): surface.found(row)
            case .click(let row, let column): if surface.hasTarget(row: row, column: column) { handle(.click) }
            }
        }
    }

    private func handleSignals() {
        while let signal = signals.next() {
            switch signal {
            case SIGCHLD:
                guard let ending = command?.ending() else { break }
                command = nil
                handle(.ended(ending))
            case SIGWINCH: surface.disturb()
            case SIGCONT: onTerminal { () throws(StreamFailure) in try surface.resume() }
            case SIGTSTP:
                onTerminal { () throws(StreamFailure) in try surface.pause { obeySignal(SIGTSTP) } }
            case SIGINT: leave(.interrupted)
            default:
                command?.terminate()
                finish()
                obeySignal(signal)
            }
        }
    }

    /// Shows the screen until it is left, with the events of a watch if there is a key.
    func run(watching key: String?, until deadline: MonotonicDeadline? = nil) throws -> ExitCode {
        defer { finish() }
        guard let key, let daemon else {
            return wait(for: nil, until: deadline) == .timedOut ? .timedOut : leavingStatus
        }
        var stream = try EventStream(ResumableWatch(KeySelection(keys: [key])), of: daemon, interruption: self)
        return try stream.show(in: self, until: deadline)
    }
}

/// Shows the events of a watch on a screen.
extension TerminalSession: EventPrinter {
    func show(_ events: [Event]) {
        for event in events { handle(.told(event)) }
        serveAll()
    }

    func report(_ notice: WatchEvent, _ sentence: String?) { handle(.notice(notice, sentence: sentence)) }

    /// Restores the terminal, with the last lines of the screen.
    func finish() { surface.leave(screen) }
}
