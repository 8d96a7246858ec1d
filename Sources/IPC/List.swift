public import Varlink

/// Returns the countdowns whose key is one of `keys` or matches a pattern, in the order of their last change. With `more`,
/// every reply is a page; without it, the error `ExpectedMore` if one page is too small.
public struct List: Method {
    /// The method's name on the wire, without the interface.
    public static let name = "List"

    /// Glob patterns. If there are neither patterns nor keys, every countdown matches.
    public var match: [String]?
    /// `running` and `paused` if it is nil.
    public var states: [Countdown.State]?
    /// Keys without wildcards.
    public var keys: [String]?
    /// Return only this many countdowns, those that end first, in that order.
    public var soonest: Int64?

    /// A call; without an argument it asks for everything that is running or paused.
    public init(
        match: [String]? = nil,
        states: [Countdown.State]? = nil,
        keys: [String]? = nil,
        soonest: Int64? = nil
    ) {
        self.match = match
        self.states = states
        self.keys = keys
        self.soonest = soonest
    }

    /// Writes the parameters; those that are nil are left out.
    public func encode(into writer: inout JSONWriter) {
        writer.memberIfPresent("match", match)
        writer.memberIfPresent("states", states)
        writer.memberIfPresent("keys", keys)
        writer.memberIfPresent("soonest", soonest)
    }

    /// Reads the parameters.
    ///
    /// - Throws: the name of the parameter that is missing, unknown or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var match = JSONMember<[String]>("match")
        var states = JSONMember<[Countdown.State]>("states")
        var keys = JSONMember<[String]>("keys")
        var soonest = JSONMember<Int64>("soonest")
        try reader.members { match.read(&$0) || states.read(&$0) || keys.read(&$0) || soonest.read(&$0) }
        self.match = try match.optional
        self.states = try states.optional
        self.keys = try keys.optional
        self.soonest = try soonest.optional
    }

    /// A page of the list.
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// The countdowns, in the order of the list.
        public var countdowns: [Countdown]

        /// A page with these countdowns.
        public init(countdowns: [Countdown]) {
            self.countdowns = countdowns
        }

        /// Writes the members of the reply.
        public func encode(into writer: inout JSONWriter) {
            writer.member("countdowns", countdowns)
        }

        /// Reads the reply and skips members that a newer daemon may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var countdowns = JSONMember<[Countdown]>("countdowns")
            reader.knownMembers { countdowns.read(&$0) }
            self.countdowns = try countdowns.required
        }
    }
}
