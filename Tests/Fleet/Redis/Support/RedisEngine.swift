import BackendContract

extension RedisServer: EngineController {
    func loseEverything() throws { try command("FLUSHALL") }

    /// Removes all but the last entry of the stream.
    func trimLog() throws { try command("XTRIM", "cd:{fleet/0}:log", "MAXLEN", "1") }

    /// Limits its memory to one byte, or to nothing.
    func setFull(_ isFull: Bool) throws { try command("CONFIG", "SET", "maxmemory", isFull ? "1" : "0") }
}

extension BridgeProcess {
    /// A new connection to the bridge.
    func client() throws -> BackendClient { try BackendClient(socket) }

    /// A new connection that follows the engine, and is live.
    func follower() throws -> BackendClient { try BackendClient(following: socket) }
}
