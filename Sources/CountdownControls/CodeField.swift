/// A code that is being typed, one box for each character, with a cursor: a state machine without a view.
///
/// The program calls a method for each event of the keyboard, and draws the boxes from ``characters`` and ``cursor``.
///
/// ```swift
/// var field = CodeField(length: 6)
/// field.type("1")
/// if let code = field.paste("Your code is 123456") { send(code) }
/// ```
///
/// A full code takes no more characters. It can be mended, until the program takes it.
public struct CodeField: Equatable, Sendable {
    /// Which characters a code has.
    public enum Alphabet: Equatable, Sendable {
        /// Digits only.
        case digits
        /// Letters from A to Z, large or small, and digits.
        case alphanumeric

        /// The character as it stands in a code; nil if it does not belong into one. Digits of any script count as
        /// digits, and full-width letters as letters, as input methods send them.
        public func admit(_ character: Character) -> Character? {
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

    /// The number of boxes, at least 1. Setting it clears the field.
    public var length: Int {
        didSet {
            length = max(1, length)
            clear()
        }
    }

    /// The gap between two boxes, in a unit of the view. Setting it clears the field.
    public var spacing: Int {
        didSet { clear() }
    }

    /// Which characters a code has.
    public let alphabet: Alphabet
    /// The characters so far.
    public private(set) var characters: [Character] = []
    /// The index of the next character: behind the last one, or one that is overwritten.
    private var place = 0

    /// An empty field.
    public init(length: Int = 4, spacing: Int = 2, alphabet: Alphabet = .digits) {
        self.length = max(1, length)
        self.spacing = spacing
        self.alphabet = alphabet
    }

    /// Whether no character lacks.
    public var isFull: Bool { characters.count == length }

    /// The whole code; nil while some of it lacks.
    public var code: String? { isFull ? String(characters) : nil }

    /// The box that the cursor is in; nil behind the last one of a full code.
    public var cursor: Int? { place < length ? place : nil }

    /// Empties the boxes.
    public mutating func clear() {
        characters = []
        place = 0
    }

    /// Types a character; characters that are not allowed or do not fit are dropped.
    ///
    /// - Returns: the code if it is full now: a view hands it over and gives the keyboard away.
    @discardableResult
    public mutating func type(_ character: Character) -> String? {
        guard let character = alphabet.admit(character), place < length else { return code }
        if place == characters.count { characters.append(character) } else { characters[place] = character }
        place += 1
        return code
    }

    /// Pastes text.
    ///
    /// A text with only a part of a code is as if it were typed. If a text is one run of characters with enough for a whole
    /// code, the last characters replace those that were typed. In any other text, such as a message, a code is searched as
    /// a whole: "code 1234, valid 5 min". Of several codes, the one nearest to a word such as *code* is taken. If there is
    /// no code, or several are equally near, the field stays as it is.
    ///
    /// - Returns: the code if the text has filled the field.
    @discardableResult
    public mutating func paste(_ text: String) -> String? {
        let search = CodeSearch(text, length: length, admit: alphabet.admit)
        let run = search.run ?? []
        if 1..<length ~= run.count {
            var code: String?
            for character in run { code = type(character) }
            return code
        }
        guard let found = search.code else { return nil }
        characters = found
        place = length
        return code
    }

    /// Takes the character before the cursor away.
    public mutating func deleteBackward() {
        guard place > 0 else { return }
        place -= 1
        characters.remove(at: place)
    }

    /// Takes the character under the cursor away.
    public mutating func deleteForward() {
        guard place < characters.count else { return }
        characters.remove(at: place)
    }

    /// Moves the cursor by a number of boxes, never past the first empty one.
    public mutating func move(by distance: Int) { place = min(max(place + distance, 0), characters.count) }
}
