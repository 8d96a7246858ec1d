import IPC

extension Following {
    /// Follows what was selected; a tick of nil is the daemon's rule, 0 is none.
    init(_ selection: Selection, tick: Int64? = nil, since: Int64? = nil) {
        self.init(Watch(match: selection.match, tickUSec: tick, since: since, keys: selection.named))
    }
}
