package import Varlink

/// Returns the countdowns whose key is one of `keys` or matches a pattern.
package struct List: Method {
    package static let name = "List"

    package var match: [String]?
    package var states: [Countdown.State]?
    package var keys: [String]?
    package var soonest: Int64?

    package init(
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

    package func encode(into writer: inout JSONWriter) {
        writer.memberIfPresent("match", match)
        writer.memberIfPresent("states", states)
        writer.memberIfPresent("keys", keys)
        writer.memberIfPresent("soonest", soonest)
    }

    package init(from reader: inout JSONReader) throws(InvalidParameter) {
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
    package struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        package var countdowns: [Countdown]

        package init(countdowns: [Countdown]) {
            self.countdowns = countdowns
        }

        package func encode(into writer: inout JSONWriter) {
            writer.member("countdowns", countdowns)
        }

        package init(from reader: inout JSONReader) throws(InvalidParameter) {
            var countdowns = JSONMember<[Countdown]>("countdowns")
            reader.knownMembers { countdowns.read(&$0) }
            self.countdowns = try countdowns.required
        }
    }
}
