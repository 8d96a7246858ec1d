import Glibc

/// Why a text is not the JSON that a Varlink message may hold.
public struct JSONError: Error, Equatable {
    /// What is wrong at the offset.
    public enum Reason: Equatable, Sendable {
        /// The text ends inside a value.
        case unexpectedEnd
        /// The grammar of RFC 8259 does not allow this byte here.
        case unexpectedByte(UInt8)
        /// Something other than whitespace follows the value.
        case trailingBytes
        /// The value is well-formed, but not an object.
        case notAnObject
        /// A string contains a byte below 0x20 without an escape.
        case controlCharacter(UInt8)
        /// A backslash that does not begin one of the escapes of RFC 8259.
        case invalidEscape
        /// A `\u` escape names one half of a surrogate pair without the other.
        case loneSurrogate
        /// The bytes of a string are not UTF-8 as defined in RFC 3629.
        case invalidUTF8
        /// A number does not have the form that RFC 8259 defines.
        case invalidNumber
        /// Objects and arrays are nested deeper than the limit.
        case tooDeep(limit: Int)
    }

    /// The offset of the offending byte from the start of the text.
    public let offset: Int
    /// What is wrong there.
    public let reason: Reason

    /// An error at an offset.
    public init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }
}

/// Reads one JSON text value by value, and validates everything that it reads.
///
/// The caller says what it expects: ``beginObject()`` and ``nextMember()``, ``beginArray()`` and ``nextElement()``, and one
/// method for each kind of value. If a value is of another kind, it is skipped and the method returns nil. After a syntax
/// error all methods return nil or false, and ``finish()`` returns the error. A caller that acts only after ``finish()``
/// needs no error handling before.
///
/// It accepts RFC 8259 and nothing else: no byte order mark, no comments, no trailing commas. Two rules are stricter than
/// the RFC: strings are UTF-8 without lone surrogates, and nesting is limited.
///
/// Memory safety: a NUL follows the text. It is not part of any value, so the position never moves past it.
@safe
public struct JSONReader: ~Copyable {
    /// How deep objects and arrays may be nested; the outermost one counts.
    public static let depthLimit = 64
    /// Integers of that many digits fit into 64 bits.
    private static let safeDigits = 18

    @usableFromInline
    let base: UnsafePointer<UInt8>
    /// The length of the text.
    private let end: Int
    /// The offset of the NUL.
    private let terminator: Int
    /// The offset of the next byte.
    private var position = 0
    /// The name of the current member, without its quotes.
    @usableFromInline
    private(set) var name = StringRange(start: 0, end: 0, isEscaped: false)
    /// Whether the innermost container was just opened.
    private var isFirst = false
    private var depth = 0
    private var error: JSONError?

    @usableFromInline
    @unsafe
    init(_ base: UnsafePointer<UInt8>, length: Int, terminator: Int) {
        precondition(
            unsafe length >= 0 && length <= terminator && base[terminator] == ASCII.null,
            "a NUL follows the text"
        )
        unsafe self.base = base
        end = length
        self.terminator = terminator
    }

    private subscript(offset: Int) -> UInt8 {
        @inline(__always) get { unsafe base[offset] }
    }

    /// Reads a text in place. The bytes end with a NUL, which is not part of the text. `length` is the length of the text in
    /// bytes; nil if only the NUL follows it. The reader must not outlive the call.
    @inlinable
    public static func read<Result: ~Copyable, Failure>(
        _ text: Span<UInt8>,
        length: Int? = nil,
        _ body: (inout JSONReader) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe text.withUnsafeBufferPointer { buffer throws(Failure) in
            guard let base = buffer.baseAddress else { preconditionFailure("a NUL follows the text") }
            let terminator = buffer.count &- 1
            var reader = unsafe JSONReader(base, length: length ?? terminator, terminator: terminator)
            return try body(&reader)
        }
    }

    /// Reads an object without members, which was entered.
    @inlinable
    public static func readEmptyObject<Result: ~Copyable, Failure>(
        _ body: (inout JSONReader) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Literals end with a NUL.
        let text: StaticString = "{}"
        var reader = unsafe JSONReader(text.utf8Start, length: 2, terminator: 2)
        _ = reader.beginObject()
        return try body(&reader)
    }

    /// Reads a copy of a text, so that no NUL has to follow it.
    public static func read<Result: ~Copyable, Failure>(
        copying text: some Collection<UInt8>,
        _ body: (inout JSONReader) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count + 1)
        bytes.append(contentsOf: text)
        bytes.append(ASCII.null)
        return try read(bytes.span, body)
    }

    // MARK: The text

    /// Enters the object that the text has to be; false if it is not an object.
    public mutating func beginText() -> Bool {
        skipWhitespace()
        let start = position
        if self[position] == ASCII.openBrace { return beginObject() }
        skip()
        if finish() == nil { fail(.notAnObject, at: start) }
        return false
    }

    /// Enters the array that the text has to be; false if it is not an array.
    public mutating func beginArrayText() -> Bool {
        skipWhitespace()
        return beginArray()
    }

    /// Ends the text: only whitespace may follow. Returns the first error in the whole text, nil if there is none.
    public mutating func finish() -> JSONError? {
        guard error == nil else { return error }
        while position < end, ASCII.isWhitespace(self[position]) { position &+= 1 }
        if position != end { fail(position < end ? .trailingBytes : .unexpectedEnd, at: min(position, end)) }
        return error
    }

    /// Notes the first error, and ends the text.
    @inline(never)
    private mutating func fail(_ reason: JSONError.Reason, at offset: Int) {
        if error == nil { error = JSONError(offset: offset, reason: reason) }
        position = terminator
    }

    /// Notes that the next byte is not allowed, or that the text ends too early.
    @inline(never)
    private mutating func failUnexpected() {
        position < end ? fail(.unexpectedByte(self[position]), at: position) : fail(.unexpectedEnd, at: end)
    }

    /// Moves on to the next byte that is not whitespace.
    @inline(__always)
    private mutating func skipWhitespace() {
        if self[position] <= ASCII.space { skipWhitespaceRun() }
    }

    private mutating func skipWhitespaceRun() {
        while ASCII.isWhitespace(self[position]) { position &+= 1 }
    }

    // MARK: Containers

    /// Enters an object; if the value is something else, skips it and returns false.
    public mutating func beginObject() -> Bool { begin(ASCII.openBrace) }

    /// Enters an array; if the value is something else, skips it and returns false.
    public mutating func beginArray() -> Bool { begin(ASCII.openBracket) }

    @inline(__always)
    private mutating func begin(_ bracket: UInt8) -> Bool {
        guard self[position] == bracket else {
            skip()
            return false
        }
        guard depth < Self.depthLimit else {
            fail(.tooDeep(limit: Self.depthLimit), at: position)
            return false
        }
        depth &+= 1
        position &+= 1
        isFirst = true
        return true
    }

    /// Goes to the next member of the object, whose value has to be read or skipped; false at the end of the object.
    public mutating func nextMember() -> Bool {
        guard next(ASCII.closeBrace) else { return false }
        guard self[position] == ASCII.quote else {
            failUnexpected()
            return false
        }
        name = scanString()
        skipWhitespace()
        guard self[position] == ASCII.colon else {
            failUnexpected()
            return false
        }
        position &+= 1
        skipWhitespace()
        return true
    }

    /// Goes to the next element of the array, which has to be read or skipped; false at the end of the array.
    public mutating func nextElement() -> Bool { next(ASCII.closeBracket) }

    /// Goes behind the comma, if one is needed; false at the end of the container.
    @inline(__always)
    private mutating func next(_ closing: UInt8) -> Bool {
        skipWhitespace()
        if self[position] == closing {
            position &+= 1
            depth &-= 1
            isFirst = false
            return false
        }
        if isFirst {
            isFirst = false
            return true
        }
        guard self[position] == ASCII.comma else {
            failUnexpected()
            return false
        }
        position &+= 1
        skipWhitespace()
        return true
    }

    // MARK: Names

    /// Whether the current member has this name.
    @inlinable
    @inline(__always)
    public func isNamed(_ name: StaticString) -> Bool {
        (self.name.count == name.utf8CodeUnitCount || self.name.isEscaped) && equals(name)
    }

    @usableFromInline
    func equals(_ name: StaticString) -> Bool {
        guard !self.name.isEscaped else { return memberName.utf8.elementsEqual(name.description.utf8) }
        return unsafe memcmp(base + self.name.start, name.utf8Start, name.utf8CodeUnitCount) == 0
    }

    /// The name of the current member.
    public var memberName: String { text(name) }

    // MARK: Values

    /// Whether the next value is `null`; if so, it is read.
    public mutating func null() -> Bool {
        guard self[position] == ASCII.lowerN else { return false }
        scanLiteral("null")
        return true
    }

    /// A truth value.
    public mutating func boolean() -> Bool? {
        switch self[position] {
        case ASCII.lowerT:
            scanLiteral("true")
            return true
        case ASCII.lowerF:
            scanLiteral("false")
            return false
        default:
            skip()
            return nil
        }
    }

    /// An integer: a number of 64 bits, signed, without fraction and exponent.
    public mutating func integer() -> Int64? {
        let isNegative = self[position] == ASCII.minus
        let first = isNegative ? position &+ 1 : position
        var index = first
        var value: Int64 = 0
        var digit = self[index] &- ASCII.zero
        while digit < 10 {
            value = value &* 10 &+ Int64(digit)
            index &+= 1
            digit = self[index] &- ASCII.zero
        }
        let digits = index &- first
        guard digits > 0, digits <= Self.safeDigits, self[first] != ASCII.zero || digits == 1,
            self[index] != ASCII.dot, self[index] | 0x20 != ASCII.lowerE
        else { return otherNumber() }
        position = index
        return isNegative ? 0 &- value : value
    }

    /// The value of a number that is longer than most; nil if it is not an integer of 64 bits.
    private mutating func otherNumber() -> Int64? {
        let first = self[position]
        guard first == ASCII.minus || ASCII.isDigit(first) else {
            skip()
            return nil
        }
        let start = position
        guard scanNumber() else { return nil }
        var value: Int64 = 0
        for index in (first == ASCII.minus ? start + 1 : start)..<position {
            let digit = Int64(self[index] &- ASCII.zero)
            let (shifted, overflow) = value.multipliedReportingOverflow(by: 10)
            // Negative numbers grow downwards, since the least one has no positive counterpart.
            let (sum, overflowToo) =
                first == ASCII.minus
                ? shifted.subtractingReportingOverflow(digit) : shifted.addingReportingOverflow(digit)
            guard !overflow, !overflowToo else { return nil }
            value = sum
        }
        return value
    }

    /// A string.
    public mutating func string() -> String? {
        guard let string = stringRange() else { return nil }
        return text(string)
    }

    /// Makes a value of a string: the body is given its text in place, or a copy if it has escapes, and returns nil if the
    /// text is not valid.
    public mutating func withString<Result>(_ body: (UTF8Span) -> Result?) -> Result? {
        guard let string = stringRange() else { return nil }
        guard !string.isEscaped else { return body(text(string).utf8Span) }
        // It was validated just now.
        return utf8(string) { body(unsafe UTF8Span(unchecked: $0)) }
    }

    /// The place of a string, without its quotes.
    mutating func stringRange() -> StringRange? {
        guard self[position] == ASCII.quote else {
            skip()
            return nil
        }
        let string = scanString()
        return error == nil ? string : nil
    }

    /// The place of an object.
    mutating func objectRange() -> Range<Int>? {
        let start = position
        let isObject = self[position] == ASCII.openBrace
        skip()
        return isObject && error == nil ? start..<position : nil
    }

    /// The JSON text of a value of any kind; empty after an error.
    public mutating func rawValue() -> [UInt8] {
        let start = position
        skip()
        guard error == nil else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: base + start, count: position - start))
    }

    /// Skips a value of any kind, and validates it.
    public mutating func skip() {
        switch self[position] {
        case ASCII.quote: _ = scanString()
        case ASCII.minus, ASCII.zero...ASCII.nine: _ = scanNumber()
        case ASCII.openBrace:
            guard begin(ASCII.openBrace) else { return }
            while nextMember() { skip() }
        case ASCII.openBracket:
            guard begin(ASCII.openBracket) else { return }
            while nextElement() { skip() }
        case ASCII.lowerT: scanLiteral("true")
        case ASCII.lowerF: scanLiteral("false")
        case ASCII.lowerN: scanLiteral("null")
        default: failUnexpected()
        }
    }

    private mutating func scanLiteral(_ literal: StaticString) {
        for index in 0..<literal.utf8CodeUnitCount {
            guard self[position] == (unsafe literal.utf8Start[index]) else { return failUnexpected() }
            position &+= 1
        }
    }

    /// Scans a number by the grammar of RFC 8259, section 6; true if it has neither fraction nor exponent.
    private mutating func scanNumber() -> Bool {
        let start = position
        if self[position] == ASCII.minus { position &+= 1 }
        let first = position
        guard skipDigits() else { return false }
        guard self[first] != ASCII.zero || position == first &+ 1 else {
            fail(.invalidNumber, at: start)
            return false
        }
        var isInteger = true
        if self[position] == ASCII.dot {
            isInteger = false
            position &+= 1
            guard skipDigits() else { return false }
        }
        if self[position] | 0x20 == ASCII.lowerE {
            isInteger = false
            position &+= 1
            if self[position] == ASCII.plus || self[position] == ASCII.minus { position &+= 1 }
            guard skipDigits() else { return false }
        }
        return isInteger
    }

    /// Skips digits, of which there has to be one at least.
    private mutating func skipDigits() -> Bool {
        let start = position
        while ASCII.isDigit(self[position]) { position &+= 1 }
        guard position > start else {
            position < end ? fail(.invalidNumber, at: position) : fail(.unexpectedEnd, at: end)
            return false
        }
        return true
    }

    // MARK: Strings

    /// Scans a string, whose first quote is the next byte, and moves behind its last one.
    @inline(__always)
    private mutating func scanString() -> StringRange {
        let start = position &+ 1
        let index = skipPlain(from: start)
        guard self[index] == ASCII.quote else { return scanSpecialString(from: start, at: index) }
        position = index &+ 1
        return StringRange(start: start, end: index, isEscaped: false)
    }

    /// The offset of the next byte that is not ASCII or that cannot stand for itself in a string.
    @inline(__always)
    private func skipPlain(from start: Int) -> Int {
        var index = start
        while index &+ EightBytes.size <= end {
            if let first = unsafe EightBytes(base + index).firstSpecial { return index &+ first }
            index &+= EightBytes.size
        }
        while self[index].isPlainASCII { index &+= 1 }
        return index
    }

    /// Scans the rest of a string that is not plain ASCII, from its first special byte.
    @inline(never)
    private mutating func scanSpecialString(from start: Int, at first: Int) -> StringRange {
        var string = StringRange(start: start, end: start, isEscaped: false)
        position = first
        while true {
            switch self[position] {
            case ASCII.quote:
                string.end = position
                position &+= 1
                return string
            case ASCII.backslash:
                string.isEscaped = true
                guard scanEscape() else { return string }
            case 0x80...:
                guard scanMultibyteScalar() else { return string }
            case let control:
                position < end ? fail(.controlCharacter(control), at: position) : fail(.unexpectedEnd, at: end)
                return string
            }
            position = skipPlain(from: position)
        }
    }

    /// Scans an escape, or both escapes of a surrogate pair; false after an error.
    private mutating func scanEscape() -> Bool {
        let start = position
        switch self[start &+ 1] {
        case ASCII.quote, ASCII.backslash, ASCII.slash, ASCII.lowerB, ASCII.lowerF, ASCII.lowerN, ASCII.lowerR,
            ASCII.lowerT:
            position = start &+ 2
            return true
        case ASCII.lowerU:
            guard let unit = scanCodeUnit() else { return false }
            return unit & 0xF800 != 0xD800 || scanLowSurrogate(after: unit, at: start)
        default:
            start &+ 1 < end ? fail(.invalidEscape, at: start) : fail(.unexpectedEnd, at: end)
            return false
        }
    }

    /// Scans the second half of a surrogate pair, whose first half stands at the offset; false after an error.
    private mutating func scanLowSurrogate(after high: UInt32, at start: Int) -> Bool {
        if high < 0xDC00, self[position] == ASCII.backslash, self[position &+ 1] == ASCII.lowerU {
            guard let low = scanCodeUnit() else { return false }
            if low & 0xFC00 == 0xDC00 { return true }
        }
        fail(.loneSurrogate, at: start)
        return false
    }

    /// Scans `\uXXXX`; the UTF-16 code unit that it names, nil after an error.
    private mutating func scanCodeUnit() -> UInt32? {
        let start = position
        position &+= 2
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let value = ASCII.hexadecimalValue(of: self[position]) else {
                position < end ? fail(.invalidEscape, at: start) : fail(.unexpectedEnd, at: end)
                return nil
            }
            unit = unit << 4 | value
            position &+= 1
        }
        return unit
    }

    /// Scans one scalar of two to four bytes, by RFC 3629, section 4; false after an error.
    private mutating func scanMultibyteScalar() -> Bool {
        let start = position
        let second: ClosedRange<UInt8>
        let length: Int
        switch self[start] {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xE1...0xEC, 0xEE...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default:
            fail(.invalidUTF8, at: start)
            return false
        }
        // Byte by byte: a NUL is not a continuation byte, so that this stops at the end.
        guard second.contains(self[start &+ 1]) else {
            fail(.invalidUTF8, at: start)
            return false
        }
        var index = start &+ 2
        while index < start &+ length {
            guard self[index] & 0xC0 == 0x80 else {
                fail(.invalidUTF8, at: start)
                return false
            }
            index &+= 1
        }
        position = index
        return true
    }

    // MARK: The content of strings

    @inline(__always)
    private func utf8<Result>(_ string: StringRange, _ body: (Span<UInt8>) -> Result) -> Result {
        body(unsafe UnsafeBufferPointer(start: base + string.start, count: string.count).span)
    }

    /// Calls the body with the UTF-8 of a string, in place, or of a copy if it has escapes.
    func withUTF8<Result>(of string: StringRange, _ body: (Span<UInt8>) -> Result) -> Result {
        string.isEscaped ? body(unescaped(string).span) : utf8(string, body)
    }

    /// A string as a value.
    func text(_ string: StringRange) -> String {
        guard !string.isEscaped else { return String(decoding: unescaped(string), as: UTF8.self) }
        // It was validated when it was scanned.
        return utf8(string) { String(copying: unsafe UTF8Span(unchecked: $0)) }
    }

    /// The UTF-8 of a string whose escapes were validated.
    private func unescaped(_ string: StringRange) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(string.count)
        var index = string.start
        while index < string.end {
            if self[index] == ASCII.backslash {
                index = unescape(at: index, into: &result)
            } else {
                result.append(self[index])
                index += 1
            }
        }
        return result
    }

    /// Appends what an escape stands for; returns the offset behind it.
    private func unescape(at index: Int, into result: inout [UInt8]) -> Int {
        switch self[index + 1] {
        case ASCII.lowerU: return unescapeScalar(at: index, into: &result)
        case ASCII.lowerB: result.append(0x08)
        case ASCII.lowerF: result.append(0x0C)
        case ASCII.lowerN: result.append(ASCII.newline)
        case ASCII.lowerR: result.append(ASCII.carriageReturn)
        case ASCII.lowerT: result.append(ASCII.tab)
        case let itself: result.append(itself)
        }
        return index + 2
    }

    private func unescapeScalar(at index: Int, into result: inout [UInt8]) -> Int {
        var code = codeUnit(at: index)
        var next = index + 6
        if code & 0xFC00 == 0xD800 {
            code = 0x10000 + ((code & 0x3FF) << 10) + (codeUnit(at: next) & 0x3FF)
            next += 6
        }
        if let scalar = Unicode.Scalar(code) { result.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
        return next
    }

    /// The UTF-16 code unit that a validated `\uXXXX` names.
    private func codeUnit(at index: Int) -> UInt32 {
        (index + 2..<index + 6).reduce(0) { $0 << 4 | (ASCII.hexadecimalValue(of: self[$1]) ?? 0) }
    }
}

extension JSONReader {
    /// The bytes of a string, without its quotes.
    @usableFromInline
    struct StringRange: Sendable {
        @usableFromInline
        var start: Int
        @usableFromInline
        var end: Int
        /// Whether the string has escapes.
        @usableFromInline
        var isEscaped: Bool

        @inlinable
        var count: Int { end &- start }
    }
}

extension UInt8 {
    /// Whether the byte is ASCII and can stand for itself in a JSON string.
    fileprivate var isPlainASCII: Bool {
        self >= ASCII.space && self < 0x80 && self != ASCII.quote && self != ASCII.backslash
    }
}
