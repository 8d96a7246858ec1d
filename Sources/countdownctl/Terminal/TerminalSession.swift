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
    private var exchange: PendingCall<Countdown>?
    /// When the pending call counts as failed.
    private var patience: MonotonicDeadline?
    private var command: RunningCommand?
    /// When the screen is to be woken.
    private let timer: BootTimer
    private var reader = InputReader()
    /// The exit code; nil until the screen is to be left.
    private var departure: ExitCode? { didSet { surface.isLeaving = departure != nil } }
    /// Whether the user does not wait for a daemon that does not answer.
    private var isImpatient = false
    /// Whether the terminal is gone: drawing and reading end.
    private var isGone = false
    /// The signal that ends this process after it has left the screen.
    private var fatalSignal: Int32?

    /// Creates a session, with a daemon if the screen makes calls.
    init(
        _ screen: S,
        on device: consuming TerminalDevice,
        of daemon: DaemonEndpoint?,
        palette: Palette
    ) throws(CommandFailure) {
        self.screen = screen
        self.screen.count(to: .microseconds(BootClock.now))
        surface = ScreenSurface(device, palette: palette)
        self.daemon = daemon
        timer = try BootTimer.orFailure()
        signals = try SignalDescriptor(reading: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD])
    }

    deinit { finish() }

    var leavingStatus: ExitCode { departure ?? .interrupted }

    /// The exit code when the screen can be left; nil until then.
    private var status: ExitCode? { screen.isBusy && !isImpatient ? nil : departure }

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
        case .wake(let instant): timer.set(instant)
        case .tell(let event): surface.keep(CountdownText().line(event).map { [$0] } ?? [])
        case .print(let lines): surface.keep(lines)
        case .leave(let status): leave(status)
        }
    }

    /// Sends the next call if none is pending. The failure of a call that could not be sent is its answer.
    private func send() {
        while let daemon, exchange == nil, !requests.isEmpty {
            do {
                exchange = try daemon.send(requests.removeFirst())
                patience = .after(microseconds: DaemonEndpoint.patience)
            } catch {
                handle(.answered(.failure(error), at: BootClock.now))
            }
        }
    }

    private func run(_ words: ShellCommand) {
        // The user left before the daemon had answered.
        guard departure != .interrupted else { return end(.ended(.killed(signal: SIGINT))) }
        do {
            command = try RunningCommand(words)
        } catch {
            end(.notRun(errno: error.errno))
        }
    }

    private func end(_ cause: CommandEnding.Cause) { handle(.ended(CommandEnding(cause: cause), at: BootClock.now)) }

    private func leave(_ status: ExitCode) { departure = departure ?? status }

    /// Leaves the screen because of a signal, of which the command must know, too. A second one does not wait for the daemon.
    private func leave(after signal: Int32, isFromKernel: Bool) {
        if ForegroundCommand.passesOn(signal, isFromKernel: isFromKernel) { command?.send(signal) }
        if signal != SIGINT { fatalSignal = fatalSignal ?? signal }
        isImpatient = departure != nil && command == nil
        leave(.interrupted)
    }

    /// Draws on the terminal. If that fails, the terminal is gone, and the session ends.
    private func onTerminal(_ draw: () throws(StreamFailure) -> Void) {
        guard !isGone else { return }
        do {
            try draw()
        } catch {
            isGone = true
            leave(.interrupted)
        }
    }

    /// Waits once for whatever comes first and serves it; whether the descriptor can be read.
    private func serve(_ descriptor: Int32?, until deadline: MonotonicDeadline?) -> Bool {
        var set = PollSet()
        let own = descriptor.map { set.add($0) }
        let input = isGone ? nil : surface.input.map { set.add($0) }
        let alarm = set.add(timer.descriptor)
        let signalled = set.add(signals.descriptor)
        let answer = (exchange?.descriptor).map { set.add($0) }
        let said = command?.descriptor.map { set.add($0) }
        let pause = reader.isPartial ? MonotonicDeadline.after(microseconds: 50_000) : nil
        set.add(deadline)
        set.add(pause)
        set.add(exchange == nil ? nil : patience)
        set.add(surface.nextChange)
        set.wait()
        screen.count(to: .microseconds(BootClock.now))

        if set.isReady(input) { read(isClosed: set.isClosed(input)) } else if pause != nil { handle(reader.flush()) }
        if set.isReady(said) { command?.read() }
        if set.isReady(signalled) { handleSignals() }
        if set.isReady(alarm) {
            timer.set(nil)
            handle(.woken(at: BootClock.now))
        }
        if set.isReady(answer), let result = exchange?.result() {
            receive(result)
        } else if exchange != nil, patience?.hasPassed == true {
            receive(.failure(.failed(errno: ETIMEDOUT)))
        }
        return set.isReady(own)
    }

    private func receive(_ result: Result<Countdown, ClientError>) {
        exchange = nil
        handle(.answered(result, at: BootClock.now))
        send()
    }

    private func read(isClosed: Bool) {
        guard let input = surface.input else { return }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe Glibc.read(input, &buffer, buffer.count)
        if count > 0 { return handle(reader.read(buffer[..<count])) }
        // If a key sends a signal, the kernel drops the input before it, also after poll(2) has reported that input.
        if count == 0 ? !isClosed : errno == EINTR || errno == EAGAIN { return }
        isGone = true
        leave(.interrupted)
    }

    private func handle(_ inputs: [TerminalInput]) {
        for input in inputs {
            switch input {
            case .key(.control("c")): leave(after: SIGINT, isFromKernel: false)
            case _ where departure != nil: break
            case .key(let key): handle(.key(key))
            case .paste(let text): handle(.paste(text))
            case .focus(let isFocused): handle(.focus(isFocused))
            case .cursor(let row, _): surface.found(row)
            case .click(let row, let column): if surface.hasTarget(row: row, column: column) { handle(.click) }
            }
        }
    }

    private func handleSignals() {
        while let (signal, isFromKernel) = signals.nextWithOrigin() {
            switch signal {
            case SIGCHLD:
                guard let ending = command?.ending() else { break }
                command = nil
                handle(.ended(ending, at: BootClock.now))
            case SIGWINCH: surface.disturb()
            case SIGCONT: onTerminal { () throws(StreamFailure) in try surface.resume() }
            case SIGTSTP:
                onTerminal { () throws(StreamFailure) in try surface.pause { obeySignal(SIGTSTP) } }
            default: leave(after: signal, isFromKernel: isFromKernel)
            }
        }
    }

    /// Shows the screen until it is left, with the events of a watch if there is a key.
    func run(watching key: String?, until deadline: MonotonicDeadline? = nil) throws -> ExitCode {
        do {
            leave(try follow(key, until: deadline))
        } catch {
            leave(.internalFault)
            settle()
            throw error
        }
        settle()
        return leavingStatus
    }

    private func follow(_ key: String?, until deadline: MonotonicDeadline?) throws -> ExitCode {
        guard let key, let daemon else {
            return wait(for: nil, until: deadline) == .timedOut ? .timedOut : leavingStatus
        }
        var stream = try EventStream(ResumableWatch(KeySelection(keys: [key]), tick: 0), of: daemon, interruption: self)
        return try stream.show(in: self, until: deadline)
    }

    /// Waits until the screen is not busy any more, and restores the terminal.
    private func settle() {
        while status == nil {
            onTerminal { () throws(StreamFailure) in try surface.paint(screen) }
            _ = serve(nil, until: nil)
        }
        finish()
    }
}

/// Shows the events of a watch on a screen.
extension TerminalSession: EventPrinter {
    func show(_ events: [Event]) {
        for event in events { handle(.told(event)) }
        serveAll()
    }

    func report(_ notice: WatchEvent, _ sentence: String?) { handle(.notice(notice, sentence: sentence)) }

    /// Restores the terminal, with the last lines of the screen, and obeys a signal that ends this process.
    func finish() {
        surface.leave(screen)
        if let fatalSignal { obeySignal(fatalSignal) }
    }
}
