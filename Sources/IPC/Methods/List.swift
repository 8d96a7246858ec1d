public import Varlink

/// The countdowns whose key is one of `keys` or matches any of the patterns, in the order of their last change; with
/// `more` a page a reply.
public struct List: Method {
    public static let name = "List"

    /// Glob patterns; all countdowns where neither these nor keys are given.
    public var match: [String]?
    /// `running` and `paused` where they are not given.
    public var states: [State]?
    /// Keys, taken as they are.
    public var keys: [String]?
    /// Only the so many that end first, in that order.
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

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        try object.allowOnly("match", "states", "keys", "soonest")
        match = try object.stringsIfPresent("match")
        states = try object.valuesIfPresent("states", as: State.self)
        keys = try object.stringsIfPresent("keys")
        soonest = try object.integerIfPresent("soonest")
    }

    /// One page.
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// In the order of the whole list.
        public var countdowns: [Countdown]

        public init(countdowns: [Countdown]) {
            self.countdowns = countdowns
        }

        public func encode(into writer: inout JSONWriter) {
            writer.member("countdowns", countdowns)
        }

        public init(decoding object: JSONObject) throws(InvalidParameter) {
            countdowns = try object.decodedArray("countdowns", of: Countdown.self)
        }
    }
}
