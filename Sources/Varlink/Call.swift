/// A call as a service receives it. Its parameters are read from the session: see ``ServerSession/parameters(as:)``.
public struct Call: Sendable {
    let target: ServiceMethod
    /// Whether the client wants no reply, not even an error.
    public let oneway: Bool
    /// Whether the client accepts more than one reply.
    public let more: Bool
    /// Whether the client wants to use the connection for another protocol.
    public let upgrade: Bool

    /// The place of the method among those of the service, in the order of its description.
    public var number: Int { target.number }
    /// The full name of the method: the interface's name, a dot, and the method's own name.
    public var method: String { target.fullName }
    /// The name of the interface.
    public var interface: String { target.interface }
    /// The name of the method within its interface.
    public var name: String { target.name }
}

/// The header of a call, checked against the rules. If a field occurs more than once, its last value counts; a field that
/// is null is the same as an absent one.
struct CallHeader {
    let method: JSONReader.StringRange
    /// The place of the parameters in the message; nil for a call without parameters.
    let parameters: Range<Int>?
    let oneway: Bool
    let more: Bool
    let upgrade: Bool

    /// Reads and validates a whole message.
    init(from reader: inout JSONReader) throws(ProtocolViolation) {
        var method = HeaderField<JSONReader.StringRange>("method")
        var parameters = HeaderField<Range<Int>>("parameters")
        var more = HeaderField<Bool>("more")
        var oneway = HeaderField<Bool>("oneway")
        var upgrade = HeaderField<Bool>("upgrade")
        try reader.header { reader in
            method.read(&reader) { $0.stringRange() } || parameters.read(&reader) { $0.objectRange() }
                || more.read(&reader) { $0.boolean() } || oneway.read(&reader) { $0.boolean() }
                || upgrade.read(&reader) { $0.boolean() }
        }
        guard let name = try method.optional else { throw .missingMethod }
        self.method = name
        self.parameters = try parameters.optional
        self.more = try more.optional ?? false
        self.oneway = try oneway.optional ?? false
        self.upgrade = try upgrade.optional ?? false
        guard !(self.oneway && self.more), !(self.more && self.upgrade), !(self.upgrade && self.oneway) else {
            throw .conflictingFlags
        }
    }
}

extension JSONReader {
    /// Reads a message again in which half of a surrogate pair stands alone, or objects and arrays are nested too deeply. If it is
    /// JSON, and if only its parameters break these two rules, it is a call with an invalid parameter.
    ///
    /// - Returns: the header, and the name of the parameter; "parameters" if it cannot be known.
    mutating func headerBesideInvalidParameter() throws(ProtocolViolation)
        -> (header: CallHeader, invalid: InvalidParameter)?
    {
        restartTolerantly()
        let header = try CallHeader(from: &self)
        let all = excesses
        guard header.parameters != nil else { return nil }
        let name = readObject(at: header.parameters) { $0.firstMemberWithExcess() }
        return excesses == 2 * all ? (header, InvalidParameter(name ?? "parameters")) : nil
    }

    /// Reads the members of the parameters, and returns the name of the first in whose value a stricter rule is broken.
    private mutating func firstMemberWithExcess() -> String? {
        place.depth += 1  // of the message
        var found: String?
        var (before, isFound) = (excesses, false)
        while nextMember() {
            let named = excesses == before ? name : nil
            skip()
            if !isFound, excesses > before { (found, isFound) = (named.map { text($0) }, true) }
            before = excesses
        }
        return found
    }
}
