import FleetWire
import ModelEngine

/// A call of `Follow`. It keeps no changes: its next reply depends on the engine.
struct FakeFollower {
    private enum State {
        /// The engine is lost, or was not asked yet.
        case off
        /// The records under these keys are sent.
        case snapshot(rest: ArraySlice<String>)
        /// The changes after the last one are sent, then `live`.
        case log
        case live
    }

    /// Records in a page, and changes in a part of the log.
    private static let pageCount = 1_000
    private var state = State.off
    /// The last change that was sent; nil before any.
    private var last: Follow.Position?
    /// The reply that has announced a snapshot that is not complete.
    private var announcement: Follow.Reply?
    private var needsSnapshot: Bool
    private var isFirstPage = false
    /// The beginning of the IDs of the client's own proposals.
    private let host: String?

    init(_ call: Follow) {
        last = call.after
        host = call.host
        needsSnapshot = last == nil
    }

    /// The engine is lost.
    mutating func stop() { state = .off }

    /// Sends everything that the client may have now.
    ///
    /// - Returns: whether the client has to read first.
    mutating func proceed(_ bridge: borrowing FakeBridge, on connection: FakeConnection) -> Bool {
        guard bridge.failure(of: connection) == nil, !bridge.isFrozen else { return false }
        while !connection.isClosed, !connection.isFull {
            switch state {
            case .off: begin(bridge, on: connection)
            case .snapshot(let rest): sendPage(rest, bridge, on: connection)
            case .log: if !sendChanges(bridge, on: connection) { becomeLive(bridge, on: connection) }
            case .live:
                guard last?.version != bridge.engine.version else { return false }
                _ = sendChanges(bridge, on: connection, leavesOutWon: true)
            }
        }
        return connection.isFull
    }

    // MARK: The place in the log

    private mutating func begin(_ bridge: borrowing FakeBridge, on connection: FakeConnection) {
        guard needsSnapshot else { return resume(bridge, on: connection) }
        if let announcement { connection.deliver(announcement, bridge.faults) }
        beginSnapshot(bridge)
    }

    private mutating func resume(_ bridge: borrowing FakeBridge, on connection: FakeConnection) {
        guard let last else {
            state = .log
            return
        }
        switch bridge.engine.resume(after: last.version, last.id) {
        case .resumed:
            connection.deliver(Follow.Reply(state: .resumed, last: last, clock: bridge.clock), bridge.faults)
            state = .log
        case .trimmed: announce(.trimmed, "the log begins later", bridge, on: connection)
        case .diverged: announce(.diverged, "the log has another history", bridge, on: connection)
        }
    }

    private mutating func announce(
        _ state: Follow.State,
        _ reason: String,
        _ bridge: borrowing FakeBridge,
        on connection: FakeConnection
    ) {
        let reply = Follow.Reply(state: state, last: last, clock: bridge.clock, reason: reason)
        connection.deliver(reply, bridge.faults)
        announcement = reply
        needsSnapshot = true
        beginSnapshot(bridge)
    }

    // MARK: The snapshot

    private mutating func beginSnapshot(_ bridge: borrowing FakeBridge) {
        last = Follow.Position(version: bridge.engine.version, id: bridge.engine.log.last?.id)
        isFirstPage = true
        state = .snapshot(rest: ArraySlice(bridge.engine.records.keys))
    }

    private mutating func sendPage(
        _ rest: ArraySlice<String>,
        _ bridge: borrowing FakeBridge,
        on connection: FakeConnection
    ) {
        let entries = rest.prefix(Self.pageCount).compactMap { key in
            bridge.engine.records[key].map { Follow.Entry(key: key, version: $0.version, id: $0.id, record: $0.record) }
        }
        let clock = isFirstPage ? bridge.clock : nil
        connection.deliver(Follow.Reply(state: .page, entries: entries, last: last, clock: clock), bridge.faults)
        isFirstPage = false
        let next = rest.dropFirst(Self.pageCount)
        guard next.isEmpty else {
            state = .snapshot(rest: next)
            return
        }
        needsSnapshot = false
        announcement = nil
        state = .log
    }

    // MARK: The log

    /// Sends the next changes, or finds that the log does not go on.
    ///
    /// - Returns: false if there is nothing to send.
    private mutating func sendChanges(
        _ bridge: borrowing FakeBridge,
        on connection: FakeConnection,
        leavesOutWon: Bool = false
    ) -> Bool {
        let changes = bridge.engine.entries(after: last?.version ?? 0, limit: Self.pageCount)
        if let last, changes.first?.version != last.version + 1, bridge.engine.version != last.version {
            resume(bridge, on: connection)
            return true
        }
        guard let newest = changes.last else { return false }
        last = Follow.Position(version: newest.version, id: newest.id)
        let missing = leavesOutWon ? changes.filter { !isWon($0.id, bridge) } : changes
        guard !missing.isEmpty else { return true }
        let entries = missing.map { Follow.Entry(key: $0.key, version: $0.version, id: $0.id, record: $0.record) }
        connection.deliver(Follow.Reply(state: .changes, entries: entries, last: last), bridge.faults)
        return true
    }

    /// Whether a change is the client's own, and was answered as won.
    private func isWon(_ id: String, _ bridge: borrowing FakeBridge) -> Bool {
        guard let host else { return false }
        return id.hasPrefix(host) && bridge.won.contains(id)
    }

    private mutating func becomeLive(_ bridge: borrowing FakeBridge, on connection: FakeConnection) {
        connection.deliver(Follow.Reply(state: .live, last: last, clock: bridge.clock), bridge.faults)
        state = .live
    }
}
