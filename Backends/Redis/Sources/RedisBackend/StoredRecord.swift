import Backend

extension Propose.StoredRecord {
    /// Parses a record as the engine holds it: `VERSION ID {json}`.
    ///
    /// - Returns: nil if the text has another form, or is longer than any record that a daemon has proposed.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let version = Int64(parts[0]), version >= 0, (1...255).contains(parts[1].utf8.count),
            parts[2].utf8.count <= BackendInterface.recordLimit
        else { return nil }
        self.init(version: version, id: String(parts[1]), record: RecordText(utf8: Array(parts[2].utf8)))
    }

    /// A text that is not a record, or the beginning of it, under the version 0.
    init(unreadable text: String) {
        self.init(version: 0, id: "?", record: RecordText(utf8: Array(text.beginning(1_000).utf8)))
    }
}

extension Follow.Entry {
    /// Parses a record as the engine holds it under a key.
    ///
    /// - Returns: nil if the text is not a record, or the key is invalid.
    init?(key: String, held text: String) {
        guard BackendInterface.isKey(key), let stored = Propose.StoredRecord(text) else { return nil }
        self.init(key: key, version: stored.version, id: stored.id, record: stored.record)
    }

    /// The place of its change in the log.
    var position: Follow.Position { Follow.Position(version: version, id: id) }
}
