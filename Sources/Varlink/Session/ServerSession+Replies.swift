extension ServerSession {
    /// Answers the call in progress with parameters, whose members the closure writes; with `continues`, which only a
    /// call with `more` allows, the call stays in progress. To a call with `oneway` nothing is sent.
    public mutating func reply(continues: Bool = false, _ parameters: (inout JSONWriter) -> Void) {
        guard expectsReply(continues: continues) else { return }
        outbox.message(parameters: parameters, continues: continues)
    }

    /// Answers the call in progress with a value as the parameters.
    @inlinable
    public mutating func reply(_ parameters: some JSONEncodable, continues: Bool = false) {
        reply(continues: continues) { parameters.encode(into: &$0) }
    }

    /// Answers the call in progress without parameters.
    public mutating func reply(continues: Bool = false) {
        guard expectsReply(continues: continues) else { return }
        outbox.message { writer in
            if continues { writer.member("continues", true) }
        }
    }

    /// Answers the call in progress with parameters that are the text of an object already, with one member at least.
    public mutating func reply(preencoded parameters: [UInt8], continues: Bool = false) {
        guard expectsReply(continues: continues) else { return }
        outbox.message { writer in
            writer.member("parameters", raw: parameters)
            if continues { writer.member("continues", true) }
        }
    }

    /// Answers the call in progress with an error, which ends it. To a call with `oneway` nothing is sent.
    public mutating func fail(_ error: some ReplyError) {
        guard expectsReply(continues: false) else { return }
        write(error)
    }

    /// Puts elements, with commas between them, into an array that is all the parameters of a reply that continues. The
    /// reply stays open for more of them until it is closed, or another one follows.
    public mutating func fill(_ name: StaticString, with elements: JSONWriter) {
        if filled == 0 {
            guard expectsReply(continues: true) else { return }
            outbox.openArray(name)
        } else {
            outbox.writer.buffer.append(ASCII.comma)
        }
        outbox.writer.buffer.append(copying: elements.buffer)
        filled += elements.count
    }

    /// Closes the reply that is being filled, where one is.
    public mutating func closeFilled() {
        guard filled > 0 else { return }
        outbox.closeArray()
        filled = 0
    }

    /// Whether the call in progress is to get a reply; the call is over where none shall follow.
    private mutating func expectsReply(continues: Bool) -> Bool {
        closeFilled()
        guard let call = callInProgress else { preconditionFailure("a reply belongs to a call in progress") }
        precondition(!continues || call.more, "only a call with more has replies that continue")
        if !continues { callInProgress = nil }
        return !call.oneway
    }

    mutating func write(_ error: some ReplyError) {
        outbox.message { writer in
            writer.member("error", error.errorName)
            writer.parameters { error.encodeParameters(into: &$0) }
        }
    }
}

extension ServerSession {
    /// The number of bytes that the client has not been sent yet.
    @inlinable
    public var unsent: Int { outbox.unsent }

    /// Offers the bytes that are to be sent; the body tells how many of them the socket took. The memory that held them is
    /// kept where more is about to be written.
    public mutating func withUnsent<Failure: Error>(
        keepingCapacity: Bool = false,
        _ body: (Span<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        try outbox.withUnsent(keepingCapacity: keepingCapacity, body)
        // Nobody goes back over what was sent, so nobody needs the calls that it answers any more.
        framer.discardHandedOut()
    }

    /// Drops what the client has not been sent, where the connection is given up: maybe half a message was.
    public mutating func dropUnsent() {
        outbox = Outbox()
        filled = 0
    }
}
