/// Numbers as words in English, German and Chinese, up to 99, and halves and quarters.
enum NumberWord {
    private static let small: [String: Int] = {
        let names = """
            zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen \
            eighteen nineteen,null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn \
            sechzehn siebzehn achtzehn neunzehn
            """
        var found = ["ein": 1, "eine": 1, "einer": 1, "einem": 1, "einen": 1, "a": 1, "an": 1]
        for language in names.split(separator: ",") {
            for (number, name) in language.split(separator: " ").enumerated() { found[String(name)] = number }
        }
        return found
    }()
    private static let tens: [String: Int] = [
        "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
        "zwanzig": 20, "dreißig": 30, "vierzig": 40, "fünfundvierzig": 45, "fünfzig": 50, "sechzig": 60, "neunzig": 90,
    ]
    /// In hundredths.
    private static let parts: [String: Int] = [
        "half": 50, "halbe": 50, "halben": 50, "半": 50, "quarter": 25, "anderthalb": 150, "eineinhalb": 150,
        "zweieinhalb": 250,
    ]
    private static let articles: Set = ["a", "an", "ein", "eine", "einer", "einem", "einen", "half"]

    /// Reads a number word, and the article behind a part; nil if the next word is not a number.
    static func read(_ scanner: inout TextScanner) -> DecimalNumber? {
        let start = scanner
        guard let word = scanner.name({ isNumber($0.lowercased()) ? $0.lowercased() : nil }) else { return nil }
        scanner = start
        guard let hundredths = hundredths(&scanner) else { return nil }
        let fraction = twoDigitText(hundredths % 100)
        var number = DecimalNumber(whole: ArraySlice("\(hundredths / 100)".utf8), fraction: ArraySlice(fraction.utf8))
        number.isWord = true
        number.isArticle = articles.contains(word)
        return number
    }

    private static func twoDigitText(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func isNumber(_ word: String) -> Bool {
        small[word] != nil || tens[word] != nil || parts[word] != nil || chinese(word) != nil
    }

    private static func hundredths(_ scanner: inout TextScanner) -> Int? {
        if let part = scanner.name({ parts[$0.lowercased()] }) {
            _ = scanner.skipWords("of")
            _ = scanner.skipWords("an") || scanner.skipWords("a")
            return part
        }
        if let ten = scanner.name({ tens[$0.lowercased()] }) {
            var ahead = scanner
            if !ahead.skip("-") { ahead.skipSpaces() }
            guard let one = ahead.name({ small[$0.lowercased()] }), 1...9 ~= one else { return ten * 100 }
            scanner = ahead
            return (ten + one) * 100
        }
        guard let number = scanner.name({ small[$0.lowercased()] ?? chinese($0) }) else { return nil }
        // `eine halbe Stunde`.
        let isHalved = number == 1 && (scanner.skipWords("halbe") || scanner.skipWords("halben"))
        return isHalved ? 50 : number * 100
    }

    /// `五`, `十五`, `四十五`.
    private static func chinese(_ word: String) -> Int? {
        let digits: [Character: Int] = [
            "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
        ]
        let parts = word.split(separator: "十", omittingEmptySubsequences: false)
        let values = parts.map { $0.isEmpty ? nil : $0.count == 1 ? digits[$0.first ?? " "] : -1 }
        guard !values.contains(-1), zip(parts, values).allSatisfy({ $0.isEmpty || $1 != nil }) else { return nil }
        switch values.count {
        case 1: return values[0]
        case 2: return (values[0] ?? 1) * 10 + (values[1] ?? 0)
        default: return nil
        }
    }
}
