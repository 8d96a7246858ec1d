public import Varlink

/// A method of `io.countdownd`: its parameters and the type of its reply. ``Interface/definition`` explains them.
///
/// Parameters are decoded strictly: an unknown member, a missing one and one of the wrong type are `InvalidParameter` with
/// the member's name. In replies unknown members are ignored, because a newer daemon may send them.
package protocol Method: Sendable, Hashable, JSONEncodable, JSONDecodable {
    associatedtype Reply: Sendable, Hashable, JSONEncodable, JSONDecodable

    /// The name within the interface: `Start`.
    static var name: String { get }
}

/// The reply of every method that answers with one countdown.
@usableFromInline
package struct CountdownReply: Sendable, Hashable, JSONEncodable, JSONDecodable {
    package var countdown: Countdown

    package init(countdown: Countdown) {
        self.countdown = countdown
    }

    @usableFromInline
    package func encode(into writer: inout JSONWriter) {
        Self.encode(into: &writer) { countdown.encode(into: &$0) }
    }

    /// Writes the member of the reply; the closure writes the members of the countdown, which may have another form.
    @inlinable
    package static func encode(into writer: inout JSONWriter, countdown: (inout JSONWriter) -> Void) {
        writer.member("countdown", object: countdown)
    }

    @usableFromInline
    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        var countdown = JSONMember<Countdown>("countdown")
        reader.knownMembers { countdown.read(&$0) }
        self.countdown = try countdown.required
    }
}

/// A method with a key as its only parameter.
package protocol KeyMethod: Method where Reply == CountdownReply {
    var key: String { get }

    init(key: String)
}

extension KeyMethod {
    package func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
    }

    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        self.init(key: try reader.onlyKey())
    }
}

extension JSONReader {
    /// Reads the parameters of a ``KeyMethod``, with the key as a value of any type, so that no string has to be made of it.
    @inlinable
    package mutating func onlyKey<Key: JSONReadable>(as type: Key.Type = Key.self) throws(InvalidParameter) -> Key {
        var key = JSONMember<Key>("key")
        try members { key.read(&$0) }
        return try key.required
    }
}

/// Returns the countdown under a key.
package struct Get: KeyMethod {
    package static let name = "Get"
    package var key: String

    package init(key: String) {
        self.key = key
    }
}

/// Returns the countdown under a key when it ends. Later calls on the connection wait as well.
package struct Wait: KeyMethod {
    package static let name = "Wait"
    package var key: String

    package init(key: String) {
        self.key = key
    }
}

/// A method that changes the state of the countdown under a key, if it has the given revision.
package protocol ChangeMethod: Method where Reply == CountdownReply {
    var key: String { get }
    var ifRevision: Int64? { get }

    init(key: String, ifRevision: Int64?)
}

extension ChangeMethod {
    package func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("ifRevision", ifRevision)
    }

    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var ifRevision = JSONMember<Int64>("ifRevision")
        try reader.members { key.read(&$0) || ifRevision.read(&$0) }
        self.init(key: try key.required, ifRevision: try ifRevision.optional)
    }
}

/// Ends a countdown before its deadline: it is cancelled.
package struct Cancel: ChangeMethod {
    package static let name = "Cancel"
    package var key: String
    package var ifRevision: Int64?

    package init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }
}

/// Finishes a countdown now.
package struct Finish: ChangeMethod {
    package static let name = "Finish"
    package var key: String
    package var ifRevision: Int64?

    package init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }
}

/// Pauses a countdown: its remaining time stays.
package struct Pause: ChangeMethod {
    package static let name = "Pause"
    package var key: String
    package var ifRevision: Int64?

    package init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }
}

/// Lets a paused countdown run again for its remaining time. It is elapsed from then on.
package struct Resume: ChangeMethod {
    package static let name = "Resume"
    package var key: String
    package var ifRevision: Int64?

    package init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }
}

/// Changes the remaining time or the deadline: exactly one of both.
package struct Adjust: Method {
    package typealias Reply = CountdownReply

    package static let name = "Adjust"

    package var key: String
    package var byUSec: Int64?
    package var deadlineUSec: Int64?
    package var ifRevision: Int64?

    package init(key: String, byUSec: Int64? = nil, deadlineUSec: Int64? = nil, ifRevision: Int64? = nil) {
        self.key = key
        self.byUSec = byUSec
        self.deadlineUSec = deadlineUSec
        self.ifRevision = ifRevision
    }

    package func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("byUSec", byUSec)
        writer.memberIfPresent("deadlineUSec", deadlineUSec)
        writer.memberIfPresent("ifRevision", ifRevision)
    }

    package init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var byUSec = JSONMember<Int64>("byUSec")
        var deadlineUSec = JSONMember<Int64>("deadlineUSec")
        var ifRevision = JSONMember<Int64>("ifRevision")
        try reader.members {
            key.read(&$0) || byUSec.read(&$0) || deadlineUSec.read(&$0) || ifRevision.read(&$0)
        }
        self.key = try key.required
        self.byUSec = try byUSec.optional
        self.deadlineUSec = try deadlineUSec.optional
        self.ifRevision = try ifRevision.optional
    }
}
