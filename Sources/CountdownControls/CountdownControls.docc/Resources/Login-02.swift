import CountdownControls
import Dispatch
import Glibc
import IPC

/// A login page in a terminal: Enter sends a code, and again after some time; digits go into boxes: login KEY [SECONDS]
///
/// The countdown belongs to the daemon.
@main
struct Login {
    enum Input {
        case typed(String)
        case started(Start.Reply)
        case failed(any Error)
    }

    let key: String
    let duration: Duration
    let countdowns: AsyncClient
    let inputs: AsyncStream<Input>
    let deliver: AsyncStream<Input>.Continuation
    let beginning = ContinuousClock.now

    var button = CountdownButton(
        .init(idle: "Send code", sending: "Sending", counting: "Again in {time}", again: "Send a new code")
    )
    var field = CodeField(length: 4)
    var message = ""
    var isDrawn = false

    init(key: String, duration: Duration) throws {
        self.key = key
        self.duration = duration
        countdowns = try AsyncClient()
        (inputs, deliver) = AsyncStream.makeStream(of: Input.self)
    }

    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        let seconds = Double(words.dropFirst().first ?? "60")
        guard let key = words.first, let seconds, let terminal = RawTerminal() else {
            print("usage: login KEY [SECONDS], in a terminal")
            exit(64)
        }
        do {
            var page = try Login(key: key, duration: .seconds(seconds))
            await page.run()
            terminal.restore()
        } catch {
            terminal.restore()
            print("\(key): \(error)")
            exit(1)
        }
    }

    var now: Duration { .now - beginning }

    mutating func run() async {
        let keyboard = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO)
        keyboard.setEventHandler { [deliver] in
            for keys in RawTerminal.read() { deliver.yield(.typed(keys)) }
        }
        keyboard.activate()
        defer { keyboard.cancel() }
        draw()
        for await input in inputs {
            if take(input) { break }
            draw()
        }
        print("\r\u{1B}[J\(message)", terminator: "\r\n")
    }

    /// Takes an input; true if the page is left.
    mutating func take(_ input: Input) -> Bool {
        switch input {
        case .typed("q"), .typed("\u{3}"), .typed("\u{4}"): return true
        case .typed("\r"): press()
        case .typed("\u{7F}"): field.deleteBackward()
        // One key, or a paste.
        case .typed(let text): field.paste(text)
        case .started(let reply):
            show(reply.countdown)
            button.succeed()
        case .failed(let error): button.fail("\(error)")
        }
        return false
    }

    mutating func press() {
        guard button.press(at: now) else { return }
        Task { [countdowns, key, duration, deliver] in
            do {
                deliver.yield(.started(try await countdowns.start(key, for: duration)))
            } catch {
                deliver.yield(.failed(error))
            }
        }
    }

    mutating func show(_ countdown: Countdown) {
        button.count(.microseconds(countdown.remainingUSec), isPaused: countdown.state == .paused, at: now)
    }

    mutating func draw() {
        let isEnabled = button.isEnabled(at: now)
        let boxes = (0..<field.length).map { $0 < field.characters.count ? "[\(field.characters[$0])]" : "[ ]" }
        let title = "\(isEnabled ? "\u{1B}[1m" : "\u{1B}[2m")< \(button.title(at: now)) >\u{1B}[m"
        let hint = isEnabled ? "Enter presses the button, q leaves" : "q leaves"
        let lines = [title, boxes.joined(separator: " "), button.failure ?? message, hint]
        print(isDrawn ? "\u{1B}[1A" : "", "\r\u{1B}[J", lines.joined(separator: "\r\n"), separator: "", terminator: "")
        // The cursor of the terminal blinks in the next box.
        print("\u{1B}[2A\u{1B}[\(4 * (field.cursor ?? field.length) + 2)G", terminator: "")
        fflush(nil)
        isDrawn = true
    }
}

/// A terminal that hands over each key.
struct RawTerminal {
    private var before = termios()

    /// Nil if standard input is not a terminal.
    init?() {
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
        var raw = before
        cfmakeraw(&raw)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)
    }

    func restore() {
        var before = before
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
        fflush(nil)
    }

    /// What was typed since the last call: control characters one by one, and the text between them, which may be pasted.
    /// The end of the input is Ctrl-D.
    static func read() -> [String] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(STDIN_FILENO, &bytes, bytes.count)
        guard count > 0 else { return ["\u{4}"] }
        // Arrows and other keys that this page does not have.
        guard bytes[0] != 0x1B else { return [] }
        var keys: [String] = []
        var isText = false
        for character in String(decoding: bytes.prefix(count), as: UTF8.self) {
            let isControl = character.asciiValue.map { $0 < 0x20 || $0 == 0x7F } ?? false
            if isText, !isControl { keys[keys.count - 1].append(character) } else { keys.append(String(character)) }
            isText = !isControl
        }
        return keys
    }
}
