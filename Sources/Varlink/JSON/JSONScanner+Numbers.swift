extension JSONScanner {
    /// Scans a number by the grammar of RFC 8259, section 6.
    mutating func scanNumber(_ bytes: Span<UInt8>) throws(JSONFailure) {
        let start = position
        let first = bytes[start] == ASCII.minus ? start &+ 1 : start
        var index = try skipDigits(bytes, from: first)
        guard bytes[first] != ASCII.zero || index == first &+ 1 else { throw failure(.invalidNumber, at: start) }
        var kind = JSONNode.Kind.integer
        if index < end, bytes[index] == ASCII.dot {
            kind = .fractional
            index = try skipDigits(bytes, from: index &+ 1)
        }
        if index < end, bytes[index] | 0x20 == ASCII.lowerE {
            kind = .fractional
            index &+= 1
            if index < end, bytes[index] == ASCII.plus || bytes[index] == ASCII.minus { index &+= 1 }
            index = try skipDigits(bytes, from: index)
        }
        position = index
        append(kind, start..<index)
    }

    /// The index behind the digits that stand here, of which there has to be one at least.
    @inline(__always)
    private func skipDigits(_ bytes: Span<UInt8>, from start: Int) throws(JSONFailure) -> Int {
        var index = start
        while index < end, ASCII.isDigit(bytes[index]) { index &+= 1 }
        guard index > start else {
            throw index < end ? failure(.invalidNumber, at: index) : failure(.unexpectedEnd, at: end)
        }
        return index
    }
}
