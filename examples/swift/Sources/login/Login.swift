import CountdownControls
import Dispatch
import Glibc
import IPC

/// A login page in a terminal: Enter sends a code, and again after some time; digits go into boxes: login KEY [SECONDS]
///
/// The countdown belongs to the daemon, so the page can be left and opened again, also twice. The button counts on while the
/// daemon is away.
@main
struct Login {
    enum Input {
        case typed(String)
        case shown(KeyedButton)
    }

    static let titles = CountdownButton.Titles(
        idle: "Send code",
        sending: "Sending",
        counting: "Again in {time}",
        again: "Send a new code"
    )

    let key: String
    let countdowns: AsyncClient
    /// The last picture of the button.
    var button: KeyedButton?
    var field = CodeField(length: 4)
    var message = ""
    /// The countdown of the last code.
    var sent: Countdown?

    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        let seconds = Double(words.dropFirst().first ?? "60")
        guard let key = words.first, let seconds, let terminal = RawTerminal() else {
            print("usage: login KEY [SECONDS], in a terminal")
            exit(64)
        }
        do {
            var page = Login(key: key, countdowns: try AsyncClient())
            try await page.run(seconds)
            terminal.restore()
        } catch {
            terminal.restore()
            print("\(key): \(error)")
            exit(1)
        }
    }

    mutating func run(_ seconds: Double) async throws {
        let button = countdowns.button(key, for: .seconds(seconds), titles: Self.titles) {
            // Here, a server sends the code to a phone.
        }
        let (inputs, deliver) = AsyncThrowingStream.makeStream(of: Input.self)
        let keyboard = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO)
        keyboard.setEventHandler { for keys in RawTerminal.read() { deliver.yield(.typed(keys)) } }
        keyboard.activate()
        let pictures = Task {
            do {
                for try await picture in button { deliver.yield(.shown(picture)) }
            } catch {
                deliver.finish(throwing: error)
            }
        }
        defer {
            keyboard.cancel()
            pictures.cancel()
        }
        print()
        for try await input in inputs {
            switch input {
            case .typed("q"), .typed("\u{3}"), .typed("\u{4}"): return draw(message)
            case .typed("\r"): button.press()
            case .typed("\u{7F}"): field.deleteBackward()
            // One key, or a paste.
            case .typed(let text): if await isRight(field.paste(text)) { return draw("Welcome back") }
            case .shown(let picture): show(picture)
            }
            draw()
        }
    }

    mutating func show(_ picture: KeyedButton) {
        button = picture
        guard let countdown = picture.countdown, countdown.started != sent?.started else { return }
        sent = countdown
        message = "Your phone shows: code \(code(of: countdown)), valid 10 min"
    }

    /// A server would compute it with a secret, as examples/web does; and send it to a phone, not here.
    func code(of countdown: Countdown) -> String {
        "\(Int(countdown.started.secondsSince1970 * 1_000) % 9_000 + 1_000)"
    }

    /// Checks a full code; the right one cancels the countdown, so that the next login can send at once.
    mutating func isRight(_ code: String?) async -> Bool {
        guard let code else { return false }
        guard let sent, code == self.code(of: sent) else {
            field.clear()
            message = "That is not the code"
            return false
        }
        // If it has ended meanwhile, there is nothing to cancel.
        _ = try? await countdowns.cancel(key)
        return true
    }

    /// Draws the page over the one before, with the cursor in the next box; or only the last message.
    func draw(_ last: String? = nil) {
        guard let button else { return }
        print("\u{1B}[1A\r\u{1B}[J", terminator: "")
        if let last { return print(last, terminator: "\r\n") }
        let boxes = (0..<field.length).map { $0 < field.characters.count ? "[\(field.characters[$0])]" : "[ ]" }
        let title = "\(button.isEnabled ? "\u{1B}[1m" : "\u{1B}[2m")< \(button.title) >\u{1B}[m"
        let hint = button.isEnabled ? "Enter presses the button, q leaves" : "q leaves"
        let lines = [title, boxes.joined(separator: " "), button.failure ?? message, hint]
        print(lines.joined(separator: "\r\n"), terminator: "")
        print("\u{1B}[2A\u{1B}[\(4 * (field.cursor ?? field.length) + 2)G", terminator: "")
        fflush(nil)
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
