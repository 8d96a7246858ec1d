public import Glibc

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
    let end: Int
    /// The offset of the NUL.
    private let terminator: Int
    /// The offset of the next byte.
    var position = 0
    /// The name of the current member, without its quotes.
    @usableFromInline
    private(set) var name = StringRange(start: 0, end: 0, isEscaped: false)
    /// Whether the innermost container was just opened.
    private var isFirst = false
    private var depth = 0
    private(set) var error: JSONError?
    /// Whether the reader goes on if a text breaks one of the two stricter rules.
    private var isTolerant = false
    /// How often it has gone on.
    private(set) var excesses = 0

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

    subscript(offset: Int) -> UInt8 {
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

    /// Reads a copy of a text, so that no NUL has to follow it.
    @inlinable
    public static func read<Result: ~Copyable, Failure>(
        copying text: some Collection<UInt8>,
        _ body: (inout JSONReader) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count + 1)
        bytes.append(contentsOf: text)
        bytes.append(0)
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

    /// Ends the text: only whitespace may follow. Returns the first error in the whole text; nil if the text is valid.
    public mutating func finish() -> JSONError? {
        guard error == nil else { return error }
        while position < end, ASCII.isWhitespace(self[position]) { position &+= 1 }
        if position != end { fail(position < end ? .trailingBytes : .unexpectedEnd, at: min(position, end)) }
        return error
    }

    /// Begins again, and reads whatever RFC 8259 allows.
    mutating func restartTolerantly() {
        isTolerant = true
        (position, isFirst, depth, error) = (0, false, 0, nil)
    }

    /// Notes that one of the two stricter rules is broken; false if that is an error.
    @inline(never)
    mutating func tolerates(_ reason: JSONError.Reason, at offset: Int) -> Bool {
        guard isTolerant else {
            fail(reason, at: offset)
            return false
        }
        excesses += 1
        return true
    }

    /// Notes the first error, and ends the text.
    @inline(never)
    mutating func fail(_ reason: JSONError.Reason, at offset: Int) {
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

    /// Reads an object that ``objectRange()`` has found, which the body gets entered; nil stands for one without members.
    @inlinable
    mutating func readObject<Result: ~Copyable, Failure>(
        at range: Range<Int>?,
        _ body: (inout JSONReader) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if let range {
            enterObject(at: range.lowerBound)
            return try body(&self)
        }
        // Literals end with a NUL.
        let text: StaticString = "{}"
        var reader = unsafe JSONReader(text.utf8Start, length: 2, terminator: 2)
        reader.enterObject(at: 0)
        return try body(&reader)
    }

    @usableFromInline
    mutating func enterObject(at offset: Int) {
        precondition(error == nil && offset >= 0 && offset < end, "an object was found there")
        position = offset
        depth = 0
        _ = beginObject()
    }

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
            if tolerates(.tooDeep(limit: Self.depthLimit), at: position) { skipDeepContainer() }
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

    /// Where the reader is: the offset of the next byte, whether a container was just opened there, and how deep it is nested.
    var place: (position: Int, isFirst: Bool, depth: Int) {
        get { (position, isFirst, depth) }
        set { (position, isFirst, depth) = newValue }
    }

    // MARK: Names

    /// Whether the current member has this name.
    @inlinable
    @inline(__always)
    public func isNamed(_ name: StaticString) -> Bool {
        guard !self.name.isEscaped else { return memberName.utf8.elementsEqual(name.description.utf8) }
        return self.name.count == name.utf8CodeUnitCount
            && (unsafe memcmp(base + self.name.start, name.utf8Start, name.utf8CodeUnitCount) == 0)
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
        let start = position
        guard self[start] == ASCII.minus || ASCII.isDigit(self[start]) else {
            skip()
            return nil
        }
        guard scanNumber() else { return nil }
        return Int64(text(StringRange(start: start, end: position, isEscaped: false)))
    }

    /// A string.
    public mutating func string() -> String? {
        guard let string = stringRange() else { return nil }
        return text(string)
    }

    /// The UTF-8 of a string.
    public mutating func utf8() -> [UInt8]? {
        guard let string = stringRange() else { return nil }
        guard !string.isEscaped else { return unescaped(string) }
        return unsafe Array(UnsafeBufferPointer(start: base + string.start, count: string.count))
    }

    /// Makes a value of a string: the body is given its text in place, or a copy if it has escapes, and returns nil if the
    /// text is not valid.
    public mutating func withString<Result>(_ body: (UTF8Span) -> Result?) -> Result? {
        guard let string = stringRange() else { return nil }
        guard !string.isEscaped else { return body(text(string).utf8Span) }
        // It was validated just now.
        return utf8(string) { body(unsafe UTF8Span(unchecked: $0)) }
    }

    /// The place of a string, without its quotes; nil if the value is of another kind.
    mutating func stringRange() -> StringRange? {
        guard self[position] == ASCII.quote else {
            skip()
            return nil
        }
        let string = scanString()
        return error == nil ? string : nil
    }

    /// The place of an object; nil if the value is of another kind.
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

    /// Skips a container of any depth, and validates it.
    private mutating func skipDeepContainer() {
        var areObjects: [Bool] = []
        repeat {
            if self[position] == ASCII.openBrace || self[position] == ASCII.openBracket {
                areObjects.append(self[position] == ASCII.openBrace)
                depth &+= 1
                position &+= 1
                isFirst = true
            } else {
                skip()
            }
            while let isObject = areObjects.last, !(isObject ? nextMember() : nextElement()) { areObjects.removeLast() }
        } while !areObjects.isEmpty
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

    /// Skips digits, and fails if the next byte is not a digit.
    private mutating func skipDigits() -> Bool {
        let start = position
        while ASCII.isDigit(self[position]) { position &+= 1 }
        guard position > start else {
            position < end ? fail(.invalidNumber, at: position) : fail(.unexpectedEnd, at: end)
            return false
        }
        return true
    }
}
