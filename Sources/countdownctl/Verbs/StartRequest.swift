import IPC

/// What was typed behind `start`, as the call that it means.
struct StartRequest {
    let call: Start
    /// What is to be said about how it was understood.
    let notes: [String]

    /// - Throws: what is wrong with what was typed.
    init(_ typed: StartVerb, clock: ClockText) throws(Failure) {
        let (key, positional) = try Self.keyAndLength(typed)
        let span = try Self.span(typed, positional, key: key, clock)
        notes = span.notes
        if typed.choice == .extend, span.deadline != nil {
            throw .usage("--extend adds a duration; `countdownctl adjust KEY --until TIME` sets another end")
        }
        call = Start(
            key: key,
            durationUSec: span.length,
            deadlineUSec: span.deadline,
            ifRunning: typed.choice?.ifRunning,
            label: typed.label,
            metadata: try Self.metadata(typed.meta),
            forget: typed.forget ? true : nil
        )
    }

    private typealias Span = (length: Int64?, deadline: Int64?, notes: [String])

    /// The key, and the length that stands behind it.
    private static func keyAndLength(_ typed: StartVerb) throws(Failure) -> (key: String, length: String?) {
        var words = typed.words[...]
        if let key = typed.key {
            guard words.count < 2 else { throw tooMany(words) }
            return (key, words.first)
        }
        guard let key = words.popFirst() else { throw .usage("which key? `countdownctl start tea 5m`") }
        guard words.count < 2 else { throw tooMany(words) }
        if words.isEmpty, DurationText.isMeant(by: key) {
            let (word, length) = (ShellWord.quote(key), DurationText.isRight(key) ? ShellWord.quote(key) : "5m")
            throw .usage("which key? `countdownctl start tea \(length)`; --key \(word) means a key of that name")
        }
        return (key, words.first)
    }

    private static func tooMany(_ words: ArraySlice<String>) -> Failure {
        let rest = words.dropFirst().map(ShellWord.quote).joined(separator: " ")
        return .usage("a key and a duration are all that start takes, not \(rest) as well")
    }

    /// How long, or until when: at most one of the three ways to say it.
    private static func span(
        _ typed: StartVerb,
        _ positional: String?,
        key: String,
        _ clock: ClockText
    ) throws(Failure) -> Span {
        guard [positional, typed.length, typed.until].count(where: { $0 != nil }) < 2 else {
            throw .usage("one of DURATION, --for and --until, not two of them")
        }
        if let until = typed.until {
            let time = try ClockTime.read(until, clock)
            return (nil, time.instant, time.notes.map { $0.sentence(about: until) })
        }
        guard let text = positional ?? typed.length else { return (nil, nil, []) }
        return (try length(text, key: key), nil, [])
    }

    private static func length(_ text: String, key: String) throws(Failure) -> Int64 {
        if DurationText.isMeant(by: key), !DurationText.isMeant(by: text) {
            let right = [text, key].map(ShellWord.quote).joined(separator: " ")
            throw .usage("the key comes first: `countdownctl start \(right)`")
        }
        let length = try DurationText.read(text)
        guard length > 0 else { throw .usage("a countdown of no length is none; 1us is the shortest") }
        return length
    }

    private static func metadata(_ typed: [String]) throws(Failure) -> [String: String]? {
        guard !typed.isEmpty else { return nil }
        var metadata: [String: String] = [:]
        for pair in typed {
            guard let sign = pair.firstIndex(of: "="), sign != pair.startIndex else {
                throw .usage("--meta takes NAME=VALUE, and \(quoted(pair)) is none")
            }
            let name = String(pair[..<sign])
            guard metadata.updateValue(String(pair[pair.index(after: sign)...]), forKey: name) == nil else {
                throw .usage("--meta names \(quoted(name)) twice")
            }
        }
        return metadata
    }
}
