/// The search for a code in a text that was pasted or filled in, such as a whole message.
///
/// A code is read as a whole. A word is a row of letters and digits; an item is a row of words that are joined by single
/// hyphens, or by single spaces between digits. An item is a code if it has the characters of the code and at least one
/// digit; words of letters at its ends, as in `G-482913`, do not count. Only letters of alphabets with capitals join digits
/// to a word, as in `27KX314159`; Chinese, Korean or Thai is written beside a number without a space.
///
/// No code is a number with marks between its digits (`10:30`, `14.03.2026`, `1234.56`), beside the sign of a currency, or
/// behind a plus sign. If there are several codes, the one nearest to a word for code is meant. If a text is
/// one run of digits alone, its last digits are the code.
struct CodeSearch {
    private struct Word {
        var range: Range<Int>
        /// Whether all of its characters may stand in a code.
        var isWhole = true
        var hasDigits = false
        var hasLetters = false
    }

    private struct Candidate {
        let range: Range<Int>
        let code: [Character]
    }

    private let length: Int
    private let text: [Unicode.Scalar]
    /// Each character as it stands in a code; nil for those that do not.
    private let admitted: [Character?]

    init(_ text: String, length: Int, admit: (Character) -> Character?) {
        self.length = length
        self.text = Array(text.unicodeScalars)
        admitted = self.text.map { admit(Character($0)) }
    }

    /// The characters of a text that is nothing but one item; nil for other texts, and for a group that is too long.
    var run: [Character]? {
        guard let item = items.first, let first = text.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = text.lastIndex(where: { !$0.properties.isWhitespace }), range(of: item) == first..<last + 1,
            let run = characters(of: item), run.count <= length || item.count == 1
        else { return nil }
        return run
    }

    /// The code; nil if the text has none, or if several are equally near to a word for code.
    var code: [Character]? {
        if let run, run.count >= length { return run.suffix(length) }
        let candidates = items.compactMap(candidate)
        guard let first = candidates.first else { return nil }
        if candidates.allSatisfy({ $0.code == first.code }) { return first.code }
        let names = CodeNames(in: text)
        let places = candidates.compactMap { candidate in
            names.place(of: candidate.range).map { (place: $0, code: candidate.code) }
        }
        guard let nearest = places.map(\.place).min() else { return nil }
        let codes = Set(places.filter { $0.place == nearest }.map(\.code))
        return codes.count == 1 ? codes.first : nil
    }

    // MARK: Words and items

    private var words: [Word] {
        var words: [Word] = []
        for (index, scalar) in text.enumerated() {
            let isInside = words.last?.range.upperBound == index
            guard admitted[index] != nil || scalar.properties.isCased || isInside && scalar.isMark else { continue }
            if !isInside { words.append(Word(range: index..<index)) }
            let place = words.count - 1
            words[place].range = words[place].range.lowerBound..<index + 1
            words[place].isWhole = words[place].isWhole && admitted[index] != nil
            if isDigit(index) { words[place].hasDigits = true } else { words[place].hasLetters = true }
        }
        return words
    }

    private var items: [[Word]] {
        var items: [[Word]] = []
        for word in words {
            if let before = items.last?.last, joins(before, word) {
                items[items.count - 1].append(word)
            } else {
                items.append([word])
            }
        }
        return items
    }

    private func joins(_ before: Word, _ word: Word) -> Bool {
        let place = before.range.upperBound
        guard word.range.lowerBound == place + 1 else { return false }
        if text[place].isHyphen { return true }
        if text[place].isSpace { return !before.hasLetters && !word.hasLetters }
        return isInNumber(place, before: word)
    }

    /// Whether a mark between two digits makes them one number, before a word. A comma does not if a letter follows:
    /// `1234,5分钟` is a code and a time.
    private func isInNumber(_ place: Int, before word: Word) -> Bool {
        guard text[place].isNumberMark, isDigit(place - 1), isDigit(place + 1) else { return false }
        let next = word.range.upperBound
        return text[place] != "," || word.hasLetters || next == text.count || !text[next].properties.isAlphabetic
    }

    private func isDigit(_ index: Int) -> Bool { admitted[index]?.isNumber == true }

    private func range(of item: [Word]) -> Range<Int> {
        (item.first?.range.lowerBound ?? 0)..<(item.last?.range.upperBound ?? 0)
    }

    // MARK: Candidates

    private func candidate(_ item: [Word]) -> Candidate? {
        let inner = item.drop { !$0.hasDigits }.reversed().drop { !$0.hasDigits }.reversed()
        for words in [Array(inner), item] where !words.isEmpty && words.contains(where: \.hasDigits) {
            let range = range(of: words)
            if let code = characters(of: words), code.count == length, !isAmount(range) {
                return Candidate(range: range, code: code)
            }
        }
        return nil
    }

    /// The characters without hyphens and spaces; nil if others are between them.
    private func characters(of item: [Word]) -> [Character]? {
        let range = range(of: item)
        guard item.allSatisfy(\.isWhole), !text[range].contains(where: \.isNumberMark) else { return nil }
        return admitted[range].compactMap(\.self)
    }

    /// Whether it is an amount of money or the number of a phone.
    private func isAmount(_ range: Range<Int>) -> Bool {
        if text[..<range.lowerBound].last == "+" { return true }
        let before = text[..<range.lowerBound].suffix(2).reversed().drop { $0.isSpace }
        let after = text[range.upperBound...].prefix(2).drop { $0.isSpace }
        return [before.first, after.first].contains { $0?.properties.generalCategory == .currencySymbol }
    }
}

extension Unicode.Scalar {
    fileprivate var isMark: Bool {
        [.nonspacingMark, .spacingMark, .enclosingMark].contains(properties.generalCategory)
    }

    /// Any dash, also one that keeps its line together, and the minus sign.
    fileprivate var isHyphen: Bool { properties.generalCategory == .dashPunctuation || self == "\u{2212}" }

    /// A space of any width inside of a line.
    fileprivate var isSpace: Bool { properties.generalCategory == .spaceSeparator }

    /// A mark inside of numbers: times, dates, decimals, addresses.
    fileprivate var isNumberMark: Bool { [".", ":", "/", ",", "．", "：", "／"].contains(self) }
}
