import Glibc
import IPC
import System

/// A code that is being typed, with a cursor.
struct CodeInput: Equatable {
    /// Which characters a code has.
    enum Alphabet: Equatable {
        case digits
        /// Letters from A to Z, large or small, and digits.
        case alphanumeric

        /// The character as it stands in a code; nil if it does not belong into one. Digits of any script count as
        /// digits, and full-width letters as letters, as input methods send them.
        func admit(_ character: Character) -> Character? {
            guard let scalar = character.unicodeScalars.first, character.unicodeScalars.count == 1 else { return nil }
            if scalar.properties.numericType == .decimal, let digit = character.wholeNumberValue {
                return Character("\(digit)")
            }
            guard self == .alphanumeric else { return nil }
            switch scalar {
            case "a"..."z", "A"..."Z": return character
            case "ａ"..."ｚ", "Ａ"..."Ｚ": return Unicode.Scalar(scalar.value - 0xFEE0).map(Character.init)
            default: return nil
            }
        }
    }

    let length: Int
    let alphabet: Alphabet
    private(set) var characters: [Character] = []
    /// The index of the next character: behind the last one, or one that is overwritten.
    private var place = 0

    init(length: Int, alphabet: Alphabet) {
        self.length = length
        self.alphabet = alphabet
    }

    var isFull: Bool { characters.count == length }

    /// The whole code; nil while some of it lacks.
    var code: String? { isFull ? String(characters) : nil }

    /// The box that the cursor is in; nil behind the last one of a full code.
    var cursor: Int? { place < length ? place : nil }

    /// Types a character; characters that are not allowed or do not fit are dropped.
    mutating func type(_ character: Character) {
        guard let character = alphabet.admit(character), place < length else { return }
        if place == characters.count { characters.append(character) } else { characters[place] = character }
        place += 1
    }

    /// Pastes text.
    ///
    /// If the text has exactly one run of characters with the length of the code and at least one digit, it is the code:
    /// "code 1234, valid 5 min". Otherwise, if enough characters are allowed in a code, the last of them are the code; if
    /// not, they are typed.
    mutating func paste(_ text: String) {
        let admitted = text.map(alphabet.admit)
        let runs = Set(
            admitted.split(separator: nil).map { $0.compactMap(\.self) }.filter { run in
                run.count == length && run.contains(where: \.isNumber)
            }
        )
        let fitting = admitted.compactMap(\.self)
        if runs.count == 1, let run = runs.first {
            characters = run
            place = length
        } else if fitting.count >= length {
            characters = fitting.suffix(length)
            place = length
        } else {
            for character in fitting { type(character) }
        }
    }

    /// Takes the character before the cursor away.
    mutating func deleteBackward() {
        guard place > 0 else { return }
        place -= 1
        characters.remove(at: place)
    }

    /// Takes the character under the cursor away.
    mutating func deleteForward() {
        guard place < characters.count else { return }
        characters.remove(at: place)
    }

    /// Moves the cursor by a number of boxes, never past the first empty one.
    mutating func move(by distance: Int) { place = min(max(place + distance, 0), characters.count) }
}

/// A code that comes as a line of standard input.
struct CodeLine {
    /// The longest line that is read.
    private static let limit = 4_096

    let input: CodeInput
    let isHidden: Bool

    /// Reads the line and prints the code in it.
    ///
    /// - Throws: that it holds none.
    func read(until deadline: MonotonicDeadline?) throws -> ExitCode {
        if StandardStream.input.isTerminal {
            guard !isHidden else {
                throw CommandFailure.usage("this terminal cannot hide a code")
            }
            try StandardStream.error.write(Array("code (\(input.length) characters): ".utf8))
        }
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n"), line.count < Self.limit {
            var set = PollSet()
            let place = set.add(STDIN_FILENO)
            set.add(deadline)
            set.wait()
            guard set.isReady(place) else {
                if deadline?.remainingUSec == 0 { return .timedOut }
                continue
            }
            // One byte at a time: input after the line is left for the next program.
            var byte: UInt8 = 0
            let count = unsafe Glibc.read(STDIN_FILENO, &byte, 1)
            if count == 0 || count < 0 && errno != EINTR { break }
            if count > 0 { line.append(byte) }
        }
        var input = input
        input.paste(String(decoding: line, as: UTF8.self))
        guard let code = input.code else {
            let kind = input.alphabet == .digits ? "digits" : "letters and digits"
            throw CommandFailure.usage("the input has no code of \(input.length) \(kind)")
        }
        try StandardStream.output.write(Array("\(code)\n".utf8))
        return .success
    }
}
