import Varlink

extension Follow {
    /// The last change that the client has; nil for a snapshot.
    public var after: Position? { Position(version: afterVersion, id: afterID) }

    /// A call that resumes after a change, or begins with a snapshot.
    ///
    /// - Parameters:
    ///   - shard: the part of the namespace to follow: 0.
    ///   - after: the last change that the client has; nil for a snapshot.
    ///   - host: the beginning of the IDs of the client's own proposals; nil if it wants to hear of those, too.
    public init(shard: Int64 = 0, after: Position? = nil, host: String? = nil) {
        self.shard = shard
        afterVersion = after?.version
        afterID = after?.id
        self.host = host
    }

    func check() throws(InvalidParameter) { try InvalidParameter.check("after", afterVersion ?? 0 >= 0) }

    /// The place of a change in the log.
    public struct Position: Sendable, Hashable {
        /// The version of the change.
        public var version: Int64
        /// The ID of the change; nil if it is not known.
        public var id: String?

        /// The place of a change.
        public init(version: Int64, id: String?) {
            self.version = version
            self.id = id
        }

        fileprivate init?(version: Int64?, id: String?) {
            guard let version else { return nil }
            self.init(version: version, id: id)
        }
    }
}

extension Follow.Entry {
    /// The record may have any text, since only one countdown is affected if it is invalid.
    func check() throws(InvalidParameter) { try InvalidParameter.check("version", version >= 0) }
}

extension Follow.Reply {
    /// The last change before the snapshot, or the last one that was sent; nil if there is none.
    public var last: Follow.Position? {
        get { Follow.Position(version: version, id: id) }
        set { (version, id) = (newValue?.version, newValue?.id) }
    }

    /// A part of a snapshot or of the log, or news of the engine.
    ///
    /// - Parameters:
    ///   - state: decides the other members.
    ///   - entries: records of a page, or changes.
    ///   - last: the last change before the snapshot, or the last one that was sent; nil if there is none.
    ///   - clock: the engine's clock, when it was reached or has moved.
    ///   - reason: why the engine is lost or the log does not continue, as a sentence for people.
    public init(
        state: Follow.State,
        entries: [Follow.Entry] = [],
        last: Follow.Position? = nil,
        clock: EngineOffset? = nil,
        reason: String? = nil
    ) {
        self.state = state
        self.entries = entries
        version = last?.version
        id = last?.id
        self.clock = clock
        self.reason = reason
    }

    func check() throws(InvalidParameter) { try InvalidParameter.check("version", version ?? 0 >= 0) }
}
