import Varlink

/// The bytes of messages, each with its NUL.
func wire(_ messages: String...) -> [UInt8] { messages.flatMap { Array($0.utf8) + [0] } }

/// The messages in bytes that end with a NUL.
func messages(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { String(decoding: $0, as: UTF8.self) }
}

/// The first bytes that a session has to send.
private func take(upTo limit: Int, _ withUnsent: ((Span<UInt8>) -> Int) -> Void) -> [UInt8] {
    var taken: [UInt8] = []
    withUnsent { bytes in
        let count = min(bytes.count, limit)
        for index in 0..<count { taken.append(bytes[index]) }
        return count
    }
    return taken
}

extension ServerSession {
    /// Takes the first bytes that are to be sent.
    mutating func takeUnsent(upTo limit: Int = .max) -> [UInt8] { take(upTo: limit) { withUnsent($0) } }

    /// Takes all that is to be sent, as messages.
    mutating func takeMessages() -> [String] { messages(takeUnsent()) }
}

extension ClientSession {
    /// Takes the first bytes that are to be sent.
    mutating func takeUnsent(upTo limit: Int = .max) -> [UInt8] { take(upTo: limit) { withUnsent($0) } }

    /// Takes all that is to be sent, as messages.
    mutating func takeMessages() -> [String] { messages(takeUnsent()) }
}

/// The first syntax error of a text that has to be an object; nil if it is valid.
func syntaxError(_ text: some Collection<UInt8>) -> JSONError? {
    JSONReader.read(copying: text) { reader in
        if reader.beginText() {
            while reader.nextMember() { reader.skip() }
        }
        return reader.finish()
    }
}

/// A member of an object; nil if it is absent or null.
///
/// - Throws: the error of the text, or the member's name if it is not of the type.
func member<Value: JSONReadable>(_ name: StaticString, of text: String, as: Value.Type = Value.self) throws -> Value? {
    var member = JSONMember<Value>(name)
    let error = JSONReader.read(copying: text.utf8) { reader in
        if reader.beginText() { reader.knownMembers { member.read(&$0) } }
        return reader.finish()
    }
    if let error { throw error }
    return try member.optional
}
