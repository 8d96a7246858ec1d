import FleetWire
import RESP

extension Propose.StoredRecord {
    /// Parses a record as the engine holds it: `VERSION ID {json}`.
    ///
    /// - Returns: nil if the text has another form, is not UTF-8, or is longer than any record that a daemon has proposed.
    init?(_ text: ArraySlice<UInt8>) {
        let space = UInt8(ascii: " ")
        guard let first = text.firstIndex(of: space), let second = text[(first + 1)...].firstIndex(of: space),
            let version = Int64(decimal: text[..<first]), version >= 0
        else { return nil }
        let (id, record) = (text[(first + 1)..<second], text[(second + 1)...])
        guard (1...255).contains(id.count), let id = try? UTF8Span(validating: id.span),
            record.count <= BackendInterface.recordLimit, (try? UTF8Span(validating: record.span)) != nil
        else { return nil }
        self.init(version: version, id: String(copying: id), record: RecordText(utf8: Array(record)))
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
    init?(key: ArraySlice<UInt8>, held text: ArraySlice<UInt8>) {
        guard let utf8 = try? UTF8Span(validating: key.span) else { return nil }
        let key = String(copying: utf8)
        guard BackendInterface.isKey(key), let stored = Propose.StoredRecord(text) else { return nil }
        self.init(key: key, version: stored.version, id: stored.id, record: stored.record)
    }

    /// The place of its change in the log.
    var position: Follow.Position { Follow.Position(version: version, id: id) }
}
