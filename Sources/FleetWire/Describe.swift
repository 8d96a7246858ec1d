public import Varlink

/// Describes the engine and the namespace. Error: ``Unreachable`` if the engine was never reached.
public struct Describe: BackendMethod {
    /// The method's name on the wire, without the interface.
    public static let name = "Describe"

    /// A call.
    public init() {}

    /// Writes nothing: there are no parameters.
    public func encode(into writer: inout JSONWriter) {}

    /// Checks that the call has no parameters.
    ///
    /// - Throws: the name of an unknown parameter.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        try reader.members { _ in false }
    }

    /// The engine and the namespace.
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// The engine's name and version.
        public var engine: String
        /// The name of the fleet.
        public var namespace: String
        /// The number of parts of the namespace: 1.
        public var shards: Int64
        /// How long a record stays after its end, in microseconds.
        public var retentionUSec: Int64
        /// A countdown is not changed in this time before its deadline, in microseconds.
        public var marginUSec: Int64
        /// The greatest number of countdowns in the namespace.
        public var countdowns: Int64
        /// The number of replicas that acknowledge a change.
        public var acknowledgements: Int64
        /// The version of the bridge.
        public var version: String

        /// A description with these fields.
        public init(
            engine: String,
            namespace: String,
            shards: Int64,
            retentionUSec: Int64,
            marginUSec: Int64,
            countdowns: Int64,
            acknowledgements: Int64,
            version: String
        ) {
            self.engine = engine
            self.namespace = namespace
            self.shards = shards
            self.retentionUSec = retentionUSec
            self.marginUSec = marginUSec
            self.countdowns = countdowns
            self.acknowledgements = acknowledgements
            self.version = version
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("engine", engine)
            writer.member("namespace", namespace)
            writer.member("shards", shards)
            writer.member("retentionUSec", retentionUSec)
            writer.member("marginUSec", marginUSec)
            writer.member("countdowns", countdowns)
            writer.member("acknowledgements", acknowledgements)
            writer.member("version", version)
        }

        /// Reads the reply and skips members that a newer bridge may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            engine = try reader.member("engine")
            namespace = try reader.member("namespace")
            shards = try reader.count("shards")
            retentionUSec = try reader.count("retentionUSec")
            marginUSec = try reader.count("marginUSec")
            countdowns = try reader.count("countdowns")
            acknowledgements = try reader.count("acknowledgements")
            version = try reader.member("version")
            reader.skipMembers()
        }
    }
}

extension JSONReader {
    /// A member that is never negative.
    fileprivate mutating func count(_ name: StaticString) throws(InvalidParameter) -> Int64 {
        let count: Int64 = try member(name)
        guard count >= 0 else {
            skipMembers()
            throw InvalidParameter(name.description)
        }
        return count
    }
}
