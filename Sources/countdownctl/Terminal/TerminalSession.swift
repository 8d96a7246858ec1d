import Glibc
import IPC
import System

/// A screen on a terminal: passes keys, events, replies and signals to the screen and performs its actions.
/// It waits with poll(2) for all of it at once.
final class TerminalSession<S: Screen>: Waiter {
    private(set) var screen: S
    private let signals: SignalDescriptor
    private var surface: ScreenSurface
    private var tasks: ScreenTasks
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
        tasks = ScreenTasks(of: daemon)
        signals = try SignalDescriptor(reading: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD])
    }

    deinit { close() }

    var daemon: DaemonEndpoint? { tasks.daemon }

    var leavingStatus: ExitCode { status ?? .interrupted }

    /// Whether the screen is to be left.
    var isLeaving: Bool { status != nil }

    func wait(for descriptor: Int32?, until deadline: MonotonicDeadline?) -> WaitResult {
        while status == nil {
            onTerminal { () throws(StreamFailure) in try surface.paint(screen) }
            if serve(descriptor, until: deadline) { return .readable }
            if let deadline, deadline.remainingUSec == 0, status == nil { return .timedOut }
        }
        return .interrupted
    }

    /// Passes an event to the screen and performs its actions.
    func handle(_ event: ScreenEvent) {
        for action in screen.handle(event) { perform(action) }
    }

    /// Handles pending input once, so that a busy watch does not block the keys.
    func serveAll() {
        guard status == nil else { return }
        onTerminal { () throws(StreamFailure) in try surface.paint(screen) }
        _ = serve(nil, until: .passed)
    }

    /// Restores the terminal, with the last lines of the screen.
    func close() { surface.leave(screen) }
}

extension TerminalSession {
    private func perform(_ action: ScreenAction) {
        switch action {
        case .call(let request): handle(tasks.call(request))
        case .run(let words): handle(tasks.run(words))
        case .tell(let event): surface.keep(EventText().line(event).map { [$0] } ?? [])
        case .print(let lines): surface.keep(lines)
        case .leave(let status): leave(status)
        }
    }

    private func handle(_ events: [ScreenEvent]) {
        for event in events { handle(event) }
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
}

extension TerminalSession {
    /// Waits once for whatever comes first and serves it; whether the descriptor can be read.
    private func serve(_ descriptor: Int32?, until deadline: MonotonicDeadline?) -> Bool {
        var set = PollSet()
        let own = descriptor.map { set.add($0) }
        let input = surface.input.map { set.add($0) }
        let signalled = set.add(signals.descriptor)
        let answer = tasks.answering.map { set.add($0) }
        let said = tasks.speaking.map { set.add($0) }
        let pause = reader.isPartial ? MonotonicDeadline.after(microseconds: 50_000) : nil
        for deadline in [deadline, pause] { set.add(deadline) }
        set.wait()

        if set.isReady(input) { read(isClosed: set.isClosed(input)) } else if pause != nil { handle(reader.flush()) }
        if set.isReady(said) { tasks.listen() }
        if set.isReady(signalled) { handleSignals() }
        if set.isReady(answer) { handle(tasks.receiveAnswer()) }
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
            case SIGCHLD: handle(tasks.reap())
            case SIGWINCH: surface.disturb()
            case SIGCONT: onTerminal { () throws(StreamFailure) in try surface.resume() }
            case SIGTSTP:
                onTerminal { () throws(StreamFailure) in try surface.pause { obeySignal(SIGTSTP) } }
            case SIGINT: leave(.interrupted)
            default:
                tasks.terminate()
                close()
                obeySignal(signal)
            }
        }
    }
}

extension TerminalSession {
    /// Shows the screen until it is left, with the events of a watch if there is a key.
    func run(watching key: String?, until deadline: MonotonicDeadline? = nil) throws -> ExitCode {
        defer { close() }
        guard let key, let daemon else {
            return wait(for: nil, until: deadline) == .timedOut ? .timedOut : leavingStatus
        }
        var stream = try EventStream(ResumableWatch(KeySelection(keys: [key])), of: daemon, interruption: self)
        while !isLeaving {
            switch try stream.next(until: deadline) {
            case .events(let events):
                for event in events { handle(.told(event)) }
                serveAll()
            case .notice(let notice): handle(.notice(notice))
            case .timedOut: return .timedOut
            case .interrupted: break
            }
        }
        return leavingStatus
    }
}

/// Shows the events of a watch on a screen.
extension TerminalSession: EventPrinter where S == FollowScreen {
    func show(_ events: [Event]) throws(StreamFailure) {
        for event in events { handle(.told(event)) }
        serveAll()
    }

    func report(_ notice: EventStream.Notice, _ output: Output) throws(StreamFailure) { handle(.notice(notice)) }

    func finish() throws(StreamFailure) { close() }
}

/// The pending actions of a screen: calls of the daemon, one at a time, and a command. Their results are events for the
/// screen.
struct ScreenTasks: ~Copyable {
    /// Nil if the screen makes no calls.
    let daemon: DaemonEndpoint?
    private var requests: [CountdownRequest] = []
    private var exchange: PendingRequest?
    private var command: RunningCommand?

    init(of daemon: DaemonEndpoint?) { self.daemon = daemon }

    /// Makes a call once those before it have been answered.
    mutating func call(_ request: CountdownRequest) -> [ScreenEvent] {
        requests.append(request)
        return send()
    }

    /// Runs a command.
    mutating func run(_ words: ShellCommand) -> [ScreenEvent] {
        do {
            command = try RunningCommand(words)
            return []
        } catch {
            return [.ended(CommandEnding(cause: .notRun(errno: error.errno)))]
        }
    }

    /// Readable when an answer may be there.
    var answering: Int32? { mutating get { exchange?.descriptor } }

    /// Readable when the command has said something.
    var speaking: Int32? { mutating get { command?.descriptor } }

    /// Takes an answer that may be there.
    mutating func receiveAnswer() -> [ScreenEvent] {
        guard let request = exchange?.request, let answer = exchange?.answer() else { return [] }
        exchange = nil
        return [.answered(request, answer)] + send()
    }

    /// Reads the output of the command.
    mutating func listen() { command?.read() }

    /// Takes the end of the command, which may have come.
    mutating func reap() -> [ScreenEvent] {
        guard let ending = command?.ending() else { return [] }
        command = nil
        return [.ended(ending)]
    }

    /// Asks the command to end.
    mutating func terminate() { command?.terminate() }

    /// Sends the next call if none is pending; returns the failures of calls that could not be sent.
    private mutating func send() -> [ScreenEvent] {
        var events: [ScreenEvent] = []
        while let daemon, exchange == nil, !requests.isEmpty {
            let request = requests.removeFirst()
            do {
                exchange = try PendingRequest(request, of: daemon)
            } catch {
                events.append(.answered(request, .failure(error)))
            }
        }
        return events
    }
}
