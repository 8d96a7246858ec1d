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

extension JSONObject {
    /// The object of a text that is known to be valid.
    init(_ text: String) throws { try self.init(parsing: Array(text.utf8)) }
}
