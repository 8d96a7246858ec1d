import CountdownControls
import Dispatch
import Glibc

/// A login page in a terminal: digits go into boxes.
@main
struct Login {
    enum Input {
        case typed(String)
    }

    let inputs: AsyncStream<Input>
    let deliver: AsyncStream<Input>.Continuation

    var field = CodeField(length: 4)
    var message = ""
    var isDrawn = false

    init() {
        (inputs, deliver) = AsyncStream.makeStream(of: Input.self)
    }

    static func main() async {
        guard let terminal = RawTerminal() else {
            print("usage: login, in a terminal")
            exit(64)
        }
        var page = Login()
        await page.run()
        terminal.restore()
    }

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
        case .typed("\u{7F}"): field.deleteBackward()
        // One key, or a paste.
        case .typed(let text): field.paste(text)
        }
        return false
    }

    mutating func draw() {
        let boxes = (0..<field.length).map { $0 < field.characters.count ? "[\(field.characters[$0])]" : "[ ]" }
        let lines = ["", boxes.joined(separator: " "), message, "q leaves"]
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
