import Varlink

/// The bytes of messages, each with its NUL.
func wire(_ messages: String...) -> [UInt8] { messages.flatMap { Array($0.utf8) + [0] } }

/// The messages in bytes that end with a NUL.
func messages(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { String(decoding: $0, as: UTF8.self) }
}

extension ServerSession {
    /// Takes all that is to be sent.
    mutating func takeUnsent() -> [UInt8] {
        var taken: [UInt8] = []
        withUnsent { bytes in
            for index in bytes.indices { taken.append(bytes[index]) }
            return bytes.count
        }
        return taken
    }

    /// Takes all that is to be sent, as messages.
    mutating func takeMessages() -> [String] { messages(takeUnsent()) }
}

extension ClientSession {
    /// Takes all that is to be sent.
    mutating func takeUnsent() -> [UInt8] {
        var taken: [UInt8] = []
        withUnsent { bytes in
            for index in bytes.indices { taken.append(bytes[index]) }
            return bytes.count
        }
        return taken
    }

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
