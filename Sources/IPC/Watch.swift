extension Watch {
    /// A watch; without an argument it watches every countdown, with a tick each second.
    ///
    /// - Parameters:
    ///   - match: glob patterns; `*` matches `/` too.
    ///   - tick: the time between ticks; zero for none, nil for 1 s.
    ///   - since: the newest revision that the client has seen.
    ///   - heartbeat: how long without an event until a heartbeat is sent.
    ///   - keys: keys without wildcards.
    public init(
        match: [String]? = nil,
        tick: Duration? = nil,
        since: Int64? = nil,
        heartbeat: Duration? = nil,
        keys: [String]? = nil
    ) {
        self.match = match
        self.tickUSec = tick?.microseconds
        self.since = since
        self.heartbeatUSec = heartbeat?.microseconds
        self.keys = keys
    }
}
