import IPC
import TestSupport

/// A client that watches a host across all restarts, and counts the ends.
final class EndObserver {
    private let host: Host
    private let connection: WatchConnection
    /// How often the end of each key was announced.
    private(set) var ends: [String: Int] = [:]
    /// How often the history was trimmed.
    private(set) var trims = 0

    init(_ host: Host) throws {
        self.host = host
        let watch = Watch(tick: .zero, since: try host.revision())
        connection = WatchConnection(ResumableWatch(watch), at: host.daemon.socketPath)
    }

    /// Reads the events that have come, without waiting.
    func read() throws {
        while true {
            let events = try connection.advance()
            guard !events.isEmpty else { return }
            for event in events { note(event) }
        }
    }

    /// Reads until the watch has come as far as the host.
    func catchUp() throws {
        let revision = try host.revision()
        try waitUntil("the watch to come to revision \(revision)") {
            try read()
            return connection.since ?? 0 >= revision
        }
    }

    private func note(_ event: WatchEvent) {
        switch event {
        case .events(let events):
            for event in events where event.type == .finished || event.type == .cancelled {
                ends[event.key ?? "", default: 0] += 1
            }
        case .historyTrimmed: trims += 1
        case .started, .lost, .stillLost, .recovered, .current, .forgotten: break
        }
    }
}
