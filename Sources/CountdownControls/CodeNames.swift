/// The words for a code in a text, in English, German and Chinese, and how near they are.
struct CodeNames {
    /// How near a place is to a word: in the same clause before others, then in the same sentence; there, a place that the
    /// word names before others; then by characters.
    struct Place: Comparable {
        /// 0 in the same clause, 1 in the same sentence, 2 in another one.
        let rank: Int
        /// 0 if the word names the code, as in `code for order 5678 is 1234`; otherwise 1.
        let reference: Int
        let distance: Int

        static func < (left: Place, right: Place) -> Bool {
            (left.rank, left.reference, left.distance) < (right.rank, right.reference, right.distance)
        }
    }

    private struct Name {
        let range: Range<Int>
        /// Whether the code stands behind it, as in `code: 1234` and `code is 1234`.
        let pointsAhead: Bool
    }

    private static let names: Set<String> = ["otp", "pin", "tan", "mtan", "token"]
    private static let endings = ["code", "codes", "password", "passwort", "kennwort"]
    private static let chinese = [
        "验证码", "驗證碼", "校验码", "校驗碼", "动态码", "動態碼", "确认码", "確認碼", "认证码", "認證碼", "安全码", "安全碼",
        "授权码", "授權碼", "激活码", "密码", "密碼", "口令",
    ].map { Array($0.unicodeScalars) }
    private static let pointers: Set<String> = ["is", "ist", "lautet"]

    private let text: [Unicode.Scalar]
    private var names: [Name] = []

    init(in text: [Unicode.Scalar]) {
        self.text = text
        var index = 0
        while index < text.count {
            let letters = letters(from: index)
            let word = lowercased(letters)
            let isName = Self.names.contains(word) || Self.endings.contains(where: word.hasSuffix)
            let end =
                isName
                ? letters.upperBound
                : Self.chinese.first { text[index...].starts(with: $0) }.map { index + $0.count }
            if let end { names.append(Name(range: index..<end, pointsAhead: pointsAhead(from: end))) }
            index = end ?? max(index + 1, letters.upperBound)
        }
    }

    /// How near a code is to the nearest word; nil if no word is about it.
    func place(of code: Range<Int>) -> Place? {
        names.compactMap { name in
            let isBehind = code.lowerBound >= name.range.upperBound
            guard isBehind || !name.pointsAhead else { return nil }
            let gap =
                isBehind
                ? name.range.upperBound..<code.lowerBound
                : min(code.upperBound, name.range.lowerBound)..<name.range.lowerBound
            let rank =
                gap.contains(where: endsSentence) ? 2 : gap.contains { Self.clauseEnds.contains(text[$0]) } ? 1 : 0
            let isNamed =
                text[gap].allSatisfy(\.properties.isWhitespace)
                || (isBehind ? endsWithPointer(gap) : pointsAhead(from: gap.lowerBound))
            return Place(rank: rank, reference: isNamed ? 0 : 1, distance: gap.count)
        }.min()
    }

    private func letters(from index: Int) -> Range<Int> {
        index..<(text[index...].firstIndex { !$0.properties.isCased } ?? text.count)
    }

    private func lowercased(_ range: Range<Int>) -> String {
        text[range].reduce(into: "") { $0 += $1.properties.lowercaseMapping }
    }

    private func pointsAhead(from end: Int) -> Bool {
        guard let next = text[end...].firstIndex(where: { $0.properties.generalCategory != .spaceSeparator }) else {
            return false
        }
        return Self.pointerMarks.contains(text[next]) || Self.pointers.contains(lowercased(letters(from: next)))
    }

    private func endsWithPointer(_ range: Range<Int>) -> Bool {
        guard let last = text[range].lastIndex(where: { !$0.properties.isWhitespace }) else { return false }
        if Self.pointerMarks.contains(text[last]) { return true }
        let other = text[range.lowerBound...last].lastIndex { !$0.properties.isCased }
        return Self.pointers.contains(lowercased((other.map { $0 + 1 } ?? range.lowerBound)..<last + 1))
    }

    private static let pointerMarks: [Unicode.Scalar] = [":", "：", "=", "是", "为", "為"]
    private static let clauseEnds: [Unicode.Scalar] = [",", ";", "，", "；", "、"]

    /// Whether a sentence ends here: at its mark, or at the end of a line that does not announce the next one by a colon.
    private func endsSentence(_ index: Int) -> Bool {
        switch text[index] {
        case "。", "！", "？": return true
        case ".", "!", "?": return index + 1 == text.count || text[index + 1].properties.isWhitespace
        case "\n", "\r":
            let before = text[..<index].last { !$0.properties.isWhitespace }
            return before != ":" && before != "："
        default: return false
        }
    }
}
