public import Varlink

/// Returns the countdowns whose key is one of `keys` or matches a pattern, in the order of their last change. With `more`,
/// every reply is a page.
public struct List: Method {
    public static let name = "List"

    /// Glob patterns. If there are neither patterns nor keys, every countdown matches.
    public var match: [String]?
    /// `running` and `paused` if it is nil.
    public var states: [State]?
    /// Keys without wildcards.
    public var keys: [String]?
    /// Return only this many countdowns, those that end first, in that order.
    public var soonest: Int64?

    public init(match: [String]? = nil, states: [State]? = nil, keys: [String]? = nil, soonest: Int64? = nil) {
        self.match = match
        self.states = states
        self.keys = keys
        self.soonest = soonest
    }

    public func encode(into writer: inout JSONWriter) {
        writer.memberIfPresent("match", match)
        writer.memberIfPresent("states", states)
        writer.memberIfPresent("keys", keys)
        writer.memberIfPresent("soonest", soonest)
    }

    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var match = JSONMember<[String]>("match")
        var states = JSONMember<[State]>("states")
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

        public init(countdowns: [Countdown]) {
            self.countdowns = countdowns
        }

        public func encode(into writer: inout JSONWriter) {
            writer.member("countdowns", countdowns)
        }

        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var countdowns = JSONMember<[Countdown]>("countdowns")
            reader.knownMembers { countdowns.read(&$0) }
            self.countdowns = try countdowns.required
        }
    }
}
