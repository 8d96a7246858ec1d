import FleetWire
import RESP

extension Follow.Entry {
    /// Parses a record as the engine holds it under a key: `VERSION ID {json}`.
    ///
    /// - Returns: nil if the text has another form, is not UTF-8, or is longer than any record that a daemon has proposed, and if
    ///   the key is invalid.
    init?(key: ArraySlice<UInt8>, held text: ArraySlice<UInt8>) {
        let space = UInt8(ascii: " ")
        guard let key = try? UTF8Span(validating: key.span), let first = text.firstIndex(of: space),
            let second = text[(first + 1)...].firstIndex(of: space),
            let version = Int64(decimal: text[..<first]), version >= 0
        else { return nil }
        let (id, record) = (text[(first + 1)..<second], text[(second + 1)...])
        guard BackendInterface.isKey(String(copying: key)), (1...255).contains(id.count),
            let id = try? UTF8Span(validating: id.span), record.count <= BackendInterface.recordLimit,
            (try? UTF8Span(validating: record.span)) != nil
        else { return nil }
        let text = RecordText(utf8: Array(record))
        self.init(key: String(copying: key), version: version, id: String(copying: id), record: text)
    }

    /// The place of its change in the log.
    var position: Follow.Position { Follow.Position(version: version, id: id) }
}
