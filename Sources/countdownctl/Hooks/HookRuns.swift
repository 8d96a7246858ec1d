import Glibc
import IPC

/// The commands that events have started: so many at once, each for so long, in the order of the events.
final class HookRuns: Company {
    /// How many go on at once.
    static let limit = 8
    /// How many wait for one of these to end; the events after them are passed over, and that is said.
    static let queueLimit = 1_000
    /// What a command has to end in once its time has passed, in microseconds.
    private static let grace: Int64 = 2_000_000

    private struct Run {
        let process: StartedProcess
        let name: String
        var end: Client.Deadline
        /// Whether it was told to end.
        var isLate = false
    }

    private let hook: Hook
    private let output: Output
    private var running: [Run] = []
    private var queue: [Event] = []

    init(_ hook: Hook, output: Output) {
        self.hook = hook
        self.output = output
    }

    /// When the first has used up its time.
    var deadline: Client.Deadline? { running.map(\.end).min { $0.monotonicUSec < $1.monotonicUSec } }

    /// Takes the events that commands are run for.
    func take(_ events: [Event]) {
        let wanted = events.filter { hook.types.contains($0.type) && $0.countdown != nil }
        let room = Self.queueLimit - queue.count
        queue += wanted.prefix(room)
        if wanted.count > room {
            output.warn("countdownctl: \(wanted.count - room) events are passed over, as too many commands wait")
        }
        attend()
    }

    /// Notices those that have ended, ends those whose time has passed, and starts those that wait.
    func attend() {
        running = running.compactMap(attended)
        while running.count < Self.limit, !queue.isEmpty { start(queue.removeFirst()) }
    }

    /// Asks all that go on to end, as nobody looks after them any more.
    func leave() {
        for run in running { run.process.sendToGroup(SIGTERM) }
    }

    /// Nil where it has ended.
    private func attended(_ run: Run) -> Run? {
        if let ending = run.process.ending() {
            if !run.isLate { tell(of: ending, run) }
            return nil
        }
        guard run.end.remainingUSec == 0 else { return run }
        var run = run
        if !run.isLate { output.warn("countdownctl: \(quoted(run.name)) takes too long, and is ended") }
        run.process.sendToGroup(run.isLate ? SIGKILL : SIGTERM)
        run.isLate = true
        run.end = .after(microseconds: Self.grace)
        return run
    }

    private func tell(of ending: ProcessEnding, _ run: Run) {
        switch ending {
        case .exited(code: 0): break
        case .exited(let code): output.warn("countdownctl: \(quoted(run.name)) failed with exit code \(code)")
        case .killed(let signal): output.warn("countdownctl: \(quoted(run.name)) was ended by signal \(signal)")
        }
    }

    private func start(_ event: Event) {
        guard let countdown = event.countdown else { return }
        let words = hook.words(for: countdown, clock: .local)
        do {
            let process = try launch(words, event, countdown)
            running.append(Run(process: process, name: words[0], end: .after(microseconds: hook.timeout)))
        } catch {
            output.warn("countdownctl: \(Failure(error).sentence)")
        }
    }

    private func launch(
        _ words: [String],
        _ event: Event,
        _ countdown: Countdown
    ) throws(ProcessLaunch.NotStarted) -> StartedProcess {
        guard let pipe = Pipe() else { throw ProcessLaunch.NotStarted(name: words[0], errno: errno) }
        // An event is far smaller than a pipe; where the system gives a smaller one it is cut and waits for nobody.
        pipe.writing.stopBlocking()
        let text = JSONText.object(event, .short) + [UInt8(ascii: "\n")]
        _ = unsafe text.withUnsafeBytes { unsafe write(pipe.writing.descriptor, $0.baseAddress, $0.count) }
        var launch = ProcessLaunch(words: words)
        launch.variables = Hook.variables(of: event, countdown)
        launch.input = pipe.reading.descriptor
        // Standard output is for the lines of the watch alone.
        launch.output = STDERR_FILENO
        launch.hasOwnGroup = true
        return try launch.start()
    }
}
