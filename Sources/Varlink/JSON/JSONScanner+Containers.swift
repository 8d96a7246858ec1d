extension JSONScanner {
    /// Scans an object whose `{` stands at the position.
    mutating func scanObject(_ bytes: Span<UInt8>, depth: Int) throws(JSONFailure) {
        let container = try open(.object, depth: depth)
        if try closes(bytes, with: ASCII.closeBrace) { return close(container) }
        try scanMembers(bytes, of: container, depth: depth)
    }

    /// Scans the members of an object, of which the first or a later one is named at the position, and its end.
    private mutating func scanMembers(_ bytes: Span<UInt8>, of container: Int, depth: Int) throws(JSONFailure) {
        repeat {
            try scanName(bytes)
            try scanValue(bytes, depth: depth + 1)
        } while try continues(bytes, until: ASCII.closeBrace)
        close(container)
    }

    /// Scans what follows a member of an object.
    @inline(__always)
    mutating func scanRest(_ bytes: Span<UInt8>, of container: Int, depth: Int) throws(JSONFailure) {
        guard try continues(bytes, until: ASCII.closeBrace) else { return close(container) }
        try scanMembers(bytes, of: container, depth: depth)
    }

    /// Scans an array whose `[` stands at the position.
    mutating func scanArray(_ bytes: Span<UInt8>, depth: Int) throws(JSONFailure) {
        let container = try open(.array, depth: depth)
        if try closes(bytes, with: ASCII.closeBracket) { return close(container) }
        repeat {
            skipWhitespace(bytes)
            name = .none
            try scanValue(bytes, depth: depth + 1)
        } while try continues(bytes, until: ASCII.closeBracket)
        close(container)
    }

    /// Notes the name of a member and goes to its value.
    @inline(__always)
    private mutating func scanName(_ bytes: Span<UInt8>) throws(JSONFailure) {
        skipWhitespace(bytes)
        guard position < end, bytes[position] == ASCII.quote else { throw unexpected(bytes, at: position) }
        position &+= 1
        let start = position
        let isEscaped = try scanString(bytes)
        name = JSONNode.Name(start: start, end: position &- 1, isEscaped: isEscaped)
        skipWhitespace(bytes)
        guard position < end, bytes[position] == ASCII.colon else { throw unexpected(bytes, at: position) }
        position &+= 1
        skipWhitespace(bytes)
    }

    @inline(__always)
    private mutating func open(_ kind: JSONNode.Kind, depth: Int) throws(JSONFailure) -> Int {
        guard depth <= Self.depthLimit else { throw failure(.tooDeep(limit: Self.depthLimit), at: position) }
        append(kind, position..<position)
        position &+= 1
        return count &- 1
    }

    @inline(__always)
    private mutating func close(_ container: Int) {
        nodes[container].end = UInt32(truncatingIfNeeded: position)
        nodes[container].next = UInt32(truncatingIfNeeded: count)
    }

    /// Whether a container that was just opened is empty; its closing byte is read then.
    @inline(__always)
    private mutating func closes(_ bytes: Span<UInt8>, with closing: UInt8) throws(JSONFailure) -> Bool {
        skipWhitespace(bytes)
        guard position < end else { throw failure(.unexpectedEnd, at: end) }
        guard bytes[position] == closing else { return false }
        position &+= 1
        return true
    }

    /// Reads the comma after a value, or the byte that closes its container: false then.
    @inline(__always)
    mutating func continues(_ bytes: Span<UInt8>, until closing: UInt8) throws(JSONFailure) -> Bool {
        skipWhitespace(bytes)
        guard position < end else { throw failure(.unexpectedEnd, at: end) }
        let byte = bytes[position]
        guard byte == ASCII.comma || byte == closing else { throw unexpected(bytes, at: position) }
        position &+= 1
        return byte == ASCII.comma
    }
}
