import BackendContract

extension RedisServer: EngineController {
    /// Removes every key.
    public func loseEverything() throws { try command("FLUSHALL") }

    /// Removes all but the last entry of the stream.
    public func trimLog() throws { try command("XTRIM", "cd:{fleet/0}:log", "MAXLEN", "1") }

    /// Limits its memory to one byte, or to nothing.
    public func setFull(_ isFull: Bool) throws { try command("CONFIG", "SET", "maxmemory", isFull ? "1" : "0") }
}

extension BridgeProcess {
    /// A new connection to the bridge.
    func client() throws -> BackendClient { try BackendClient(socket) }
}
