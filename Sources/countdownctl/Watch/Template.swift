import IPC
import Text
import Varlink

/// A text with fields of a countdown: `{key} {remaining} {metadata.room}`. Literal braces are doubled.
struct Template: Equatable {
    enum Field: String, CaseIterable {
        case key
        /// The label, or the key if there is no label.
        case label
        /// `4:59`
        case remaining
        /// Whole seconds that remain; one that has begun counts.
        case s
        /// How much of it has gone, from 0 to 100.
        case percent
        /// The time of its end; `-` if it is paused.
        case end
        case state
    }

    private enum Piece: Equatable {
        case text(String)
        case field(Field)
        /// The value of the metadata with a name; empty if the countdown has none.
        case metadata(String)
    }

    private static let metadataPrefix = "metadata."

    private let pieces: [Piece]

    /// - Throws: which place stands for nothing, or which brace lacks its fellow.
    init(_ text: String) throws(CommandFailure) {
        var pieces: [Piece] = []
        var literal = ""
        var rest = text[...]
        while let first = rest.popFirst() {
            guard first == "{" || first == "}" else {
                literal.append(first)
                continue
            }
            if rest.first == first {
                rest.removeFirst()
                literal.append(first)
                continue
            }
            guard first == "{", let end = rest.firstIndex(of: "}") else {
                throw .usage("unmatched \(first) in a template; write \(first)\(first) for a literal brace")
            }
            let piece = try Self.piece(rest[..<end])
            if !literal.isEmpty { pieces.append(.text(literal)) }
            literal = ""
            pieces.append(piece)
            rest = rest[rest.index(after: end)...]
        }
        if !literal.isEmpty { pieces.append(.text(literal)) }
        self.pieces = pieces
    }

    private static func piece(_ name: Substring) throws(CommandFailure) -> Piece {
        if let field = Field(rawValue: String(name)) { return .field(field) }
        let rest = name.dropFirst(metadataPrefix.count)
        guard name.hasPrefix(metadataPrefix), !rest.isEmpty else {
            let field = quoted("{\(name)}")
            throw .usage("unknown field \(field) in a template; the fields are \(places); {{ is a literal brace")
        }
        return .metadata(String(rest))
    }

    /// A template with a field.
    ///
    /// - Throws: also if nothing in it depends on a countdown.
    init(withField text: String) throws(CommandFailure) {
        try self.init(text)
        guard !isConstant else {
            throw .usage("template \(quoted(text)) has no field; the fields are \(Self.places)")
        }
    }

    /// Whether nothing in it depends on the countdown.
    var isConstant: Bool { pieces.allSatisfy { if case .text = $0 { true } else { false } } }

    /// The reader of a rendered template.
    enum Reader {
        /// A program, which has it as one of its words.
        case program
        /// A person at a terminal, which must not obey any part of it.
        case terminal
        /// A bar such as polybar, which reads `%{` as the start of a tag that can set colours or run a command.
        case bar
    }

    /// The text for a countdown. Values are escaped for the reader; the text of the template is not.
    func render(_ countdown: Countdown, clock: ClockText, for reader: Reader = .terminal) -> String {
        var result = ""
        for piece in pieces {
            switch piece {
            case .text(let text): result += text
            case .field(let field): append(Self.value(of: field, countdown, clock))
            case .metadata(let name): append(countdown.metadata?[name] ?? "")
            }
        }
        return result

        func append(_ value: String) {
            let shown = reader == .program ? value : PrintableText.escape(value)
            result += reader == .bar ? TagText.escape(shown, behind: result) : shown
        }
    }

    private static func value(of field: Field, _ countdown: Countdown, _ clock: ClockText) -> String {
        switch field {
        case .key: countdown.key
        case .label: countdown.title
        case .remaining: RemainingFormat.render(countdown.remainingUSec)
        case .s: "\(RemainingFormat.seconds(countdown.remainingUSec))"
        case .percent: "\(countdown.percentGone)"
        case .end: (countdown.endedUSec ?? countdown.deadlineUSec).map(clock.render) ?? "-"
        case .state: countdown.state.rawValue
        }
    }

    /// The places as they are typed.
    static var places: String {
        (Field.allCases.map(\.rawValue) + [metadataPrefix + "NAME"]).map { "{\($0)}" }.joined(separator: " ")
    }
}

extension Countdown {
    /// The label, or the key of a countdown without a label.
    var title: String {
        guard let label, !label.isEmpty else { return key }
        return label
    }
}

/// Text for bars that read `%{…}` as a tag and know no way to write it as such.
enum TagText {
    /// Takes no room, and no line is broken at it: WORD JOINER.
    private static let divider: Unicode.Scalar = "\u{2060}"

    /// The text to append after `before`, with a divider in each `%{` that would begin a tag.
    static func escape(_ text: String, behind before: String) -> String {
        var result = String.UnicodeScalarView()
        var last = before.unicodeScalars.last
        for scalar in text.unicodeScalars {
            if last == "%", scalar == "{" { result.append(divider) }
            result.append(scalar)
            last = scalar
        }
        if last == "%", !text.isEmpty { result.append(divider) }
        return String(result)
    }
}
