import IPC

/// All countdowns that a daemon has.
enum Listed {
    static func all(at path: String) throws -> [String: Countdown] {
        var client = try Client(at: path)
        try client.start(streaming: List(match: ["*"], states: Countdown.State.allCases))
        var found: [String: Countdown] = [:]
        while let (reply, continues) = try client.nextReply(to: List.self) {
            for countdown in reply.countdowns { found[countdown.key] = countdown }
            guard continues else { break }
        }
        return found
    }
}
