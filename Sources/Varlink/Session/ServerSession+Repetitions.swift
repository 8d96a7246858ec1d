extension ServerSession {
    /// Says of the last call that was told that it may be repeated with another string as the parameter of this name: see
    /// ``answerRepetitions(atMost:whileUnsent:_:)``. Nothing happens where that is not its first parameter.
    public mutating func expectRepetitions(by parameter: StaticString) {
        opening.expectRepetitions(by: parameter)
    }

    /// Answers the next calls for as long as each is the last one that was told once more, byte by byte but for the string
    /// that is its first parameter, where ``expectRepetitions(by:)`` said so of that one.
    ///
    /// What most clients ask for most is answered so without what a call takes to be told and held. Nothing has become of
    /// the first call that is another one, or that the closure leaves alone: ``next()`` tells it.
    ///
    /// - Parameters:
    ///   - limit: how many calls are answered at most.
    ///   - unsent: no call is answered while more bytes than these are to be sent.
    ///   - write: writes the parameters of the reply to the call with this string; false where that call is left alone.
    /// - Returns: how many calls were answered.
    public mutating func answerRepetitions(
        atMost limit: Int,
        whileUnsent unsent: Int,
        _ write: (UTF8Span, inout JSONWriter) -> Bool
    ) -> Int {
        guard opening.isRepeatable, !isViolated, callInProgress == nil else { return 0 }
        let bytes = framer.bytes
        var answered = 0
        while answered < limit, outbox.unsent <= unsent {
            let position = framer.position
            // What is too long is so once more.
            guard let range = try? framer.next() else { break }
            guard let text = opening.repetition(bytes.span, range),
                outbox.messageIfWritten({
                    // What consists of plain bytes is ASCII.
                    write(unsafe UTF8Span(unchecked: bytes.span.extracting(text), isKnownASCII: true), &$0)
                })
            else {
                framer.rewind(to: position)
                break
            }
            answered += 1
        }
        return answered
    }
}
