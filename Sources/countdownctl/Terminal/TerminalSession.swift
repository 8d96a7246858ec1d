import Glibc
import IPC

/// A screen on a terminal: what is typed, told, said and signalled goes to the screen, and what the screen wants is done.
/// It waits with poll(2) for all of it at once.
final class TerminalSession<S: Screen>: Waiting {
    private(set) var screen: S
    let daemon: Daemon?
    private let palette: Palette
    private let signals: SignalDescriptor
    private var device: TerminalDevice
    private var isShown = false
    private var reader = InputReader()
    private var painter = FramePainter()
    private var frame = Frame()
    private var blinking = Blinking()
    private var origin = FrameOrigin()
    /// Lines that are to stand above the picture, and do not yet.
    private var permanent: [String] = []
    private var requests: [Request] = []
    private var exchange: Exchange?
    private var command: RunningCommand?
    /// The code to exit with; nil until somebody wants to leave.
    private var status: CommandStatus?

    /// A screen, for a daemon where it makes calls.
    ///
    /// - Throws: that the system has no more room.
    init(_ screen: S, on device: consuming TerminalDevice, of daemon: Daemon?, palette: Palette) throws(Failure) {
        self.screen = screen
        self.device = device
        self.daemon = daemon
        self.palette = palette
        // Where it is ignored, a command that has ended leaves no word of it.
        signal(SIGCHLD, SIG_DFL)
        signals = try SignalDescriptor([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD])
    }

    deinit { close() }

    var leavingStatus: CommandStatus { status ?? .interrupted }

    /// Whether somebody wants to leave.
    var isLeaving: Bool { status != nil }

    func wait(for descriptor: Int32?, until deadline: Client.Deadline?) -> Readiness {
        while status == nil {
            paint()
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
        paint()
        _ = serve(nil, until: .passed)
    }

    /// Gives the terminal back, with what is to stay on it.
    func close() {
        guard isShown else { return }
        isShown = false
        let remains = screen.remains(on: canvas)
        write(painter.finish(remains, below: takePermanent()))
        device.leave()
    }
}

extension TerminalSession {
    private func perform(_ action: ScreenAction) {
        switch action {
        case .call(let request):
            requests.append(request)
            callNext()
        case .run(let words): run(words)
        case .tell(let event): permanent += EventText().line(event).map { [$0] } ?? []
        case .print(let lines): permanent += lines
        case .leave(let status): self.status = self.status ?? status
        }
    }

    private func callNext() {
        guard let daemon, exchange == nil, !requests.isEmpty else { return }
        let request = requests.removeFirst()
        do {
            exchange = try Exchange(request, of: daemon)
        } catch {
            take(.answered(request, .failure(error)))
            callNext()
        }
    }

    private func takeAnswer() {
        guard let request = exchange?.request, let answer = exchange?.answer() else { return }
        exchange = nil
        take(.answered(request, answer))
        callNext()
    }

    private func run(_ words: ShellCommand) {
        do {
            command = try RunningCommand(words)
        } catch {
            take(.ended(CommandEnding(cause: .notRun(errno: error.errno))))
        }
    }

    private func reap() {
        guard let ending = command?.ending() else { return }
        command = nil
        take(.ended(ending))
    }
}

extension TerminalSession {
    /// Waits once for whatever comes first and serves it; whether the descriptor can be read.
    private func serve(_ descriptor: Int32?, until deadline: Client.Deadline?) -> Bool {
        var set = PollSet()
        let own = descriptor.map { set.add($0) }
        let input = device.input.map { set.add($0) }
        let signalled = set.add(signals.descriptor)
        let answer = exchange?.descriptor.map { set.add($0) }
        let said = command?.descriptor.map { set.add($0) }
        let pause = reader.isPartial ? Client.Deadline.after(microseconds: 50_000) : nil
        set.wait(until: [deadline, blinking.next, pause])

        if set.isReady(input) { read() } else if pause != nil { take(reader.flush()) }
        if set.isReady(said) { command?.read() }
        if set.isReady(signalled) { takeSignals() }
        if set.isReady(answer) { takeAnswer() }
        blinking.pass()
        return set.isReady(own)
    }

    private func read() {
        guard let input = device.input else { return }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe Glibc.read(input, &buffer, buffer.count)
        if count > 0 { return take(reader.read(buffer[..<count])) }
        if count < 0, errno == EINTR || errno == EAGAIN { return }
        // The terminal is gone.
        status = status ?? .interrupted
    }

    private func take(_ inputs: [TerminalInput]) {
        for input in inputs where status == nil {
            blinking.begin()
            switch input {
            case .key(.control("c")): status = .interrupted
            case .key(let key): take(.key(key))
            case .paste(let text): take(.paste(text))
            case .focus(let isFocused): take(.focus(isFocused))
            case .cursor(let row, _): origin.found(row)
            case .click(let row, let column):
                if let row = origin.row(of: row), frame.hasTarget(row: row, column: column) { take(.click) }
            }
        }
    }

    private func takeSignals() {
        while let signal = signals.next() {
            switch signal {
            case SIGCHLD: reap()
            case SIGWINCH: disturb()
            case SIGCONT: resume()
            case SIGTSTP: stop()
            case SIGINT: status = status ?? .interrupted
            default:
                command?.terminate()
                close()
                SignalDescriptor.obey(signal)
            }
        }
    }

    /// Does what Ctrl-Z is for, with the terminal as it was before.
    private func stop() {
        guard isShown else { return }
        write(painter.finish(frame.lines))
        device.leave()
        SignalDescriptor.obey(SIGTSTP)
        resume()
    }

    private func resume() {
        guard isShown else { return }
        enter()
        disturb()
    }

    private func disturb() {
        painter.disturb()
        origin.lose()
    }
}

extension TerminalSession {
    private var canvas: Canvas {
        let size = device.size
        return Canvas(
            columns: size.columns,
            rows: size.rows,
            glyphs: device.glyphs,
            palette: palette,
            clock: .local,
            showsCursor: blinking.showsCursor
        )
    }

    private func paint() {
        if !isShown {
            isShown = true
            enter()
        }
        let next = screen.frame(on: canvas)
        if next.lines.count != frame.lines.count || !permanent.isEmpty { origin.lose() }
        frame = next
        blinking.isWanted = frame.blinks
        var text = painter.paint(frame.lines, below: takePermanent())
        if !frame.targets.isEmpty { text += origin.question() }
        write(text)
    }

    private func takePermanent() -> [String] {
        defer { permanent = [] }
        return permanent
    }

    private func enter() {
        do {
            try device.enter()
        } catch {
            status = status ?? .interrupted
        }
    }

    private func write(_ text: String) {
        guard !text.isEmpty else { return }
        do {
            try device.output.write(Array(text.utf8))
        } catch {
            // Nobody can see it any more.
            status = status ?? .interrupted
        }
    }
}
