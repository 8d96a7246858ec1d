import Glibc

/// What a screen asked for and that goes on: calls of the daemon, one after the other, and a command. What comes of it
/// is told as the events that the screen takes.
struct ScreenErrands: ~Copyable {
    /// Nil where the screen makes no calls.
    let daemon: Daemon?
    private var requests: [Request] = []
    private var exchange: Exchange?
    private var command: RunningCommand?

    init(of daemon: Daemon?) { self.daemon = daemon }

    /// Makes a call once those before it have been answered.
    mutating func call(_ request: Request) -> [ScreenEvent] {
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
    mutating func takeAnswer() -> [ScreenEvent] {
        guard let request = exchange?.request, let answer = exchange?.answer() else { return [] }
        exchange = nil
        return [.answered(request, answer)] + send()
    }

    /// Takes what the command has said.
    mutating func listen() { command?.read() }

    /// Takes the end of the command, which may have come.
    mutating func reap() -> [ScreenEvent] {
        guard let ending = command?.ending() else { return [] }
        command = nil
        return [.ended(ending)]
    }

    /// Asks the command to end.
    mutating func terminate() { command?.terminate() }

    /// Sends the next call where none waits for its answer; what became of those that could not be sent.
    private mutating func send() -> [ScreenEvent] {
        var events: [ScreenEvent] = []
        while let daemon, exchange == nil, !requests.isEmpty {
            let request = requests.removeFirst()
            do {
                exchange = try Exchange(request, of: daemon)
            } catch {
                events.append(.answered(request, .failure(error)))
            }
        }
        return events
    }
}
