import Foundation

extension RedisServer {
    /// The records that it holds, by key.
    func records() throws -> [String: EngineRecord] {
        let text = try command("--json", "HGETALL", "cd:{fleet/0}:now")
        let members = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
        return try members.mapValues { try EngineRecord($0) }
    }

    /// The records in its log, with their keys, oldest first.
    func log() throws -> [(key: String, record: EngineRecord)] {
        let text = try command("--json", "XRANGE", "cd:{fleet/0}:log", "-", "+")
        let entries = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[Any]] ?? []
        return try entries.flatMap { entry in
            // Keys and records in turn.
            guard let fields = entry.last as? [String] else { throw UnreadableRecord(text: "\(entry)") }
            return try stride(from: 0, to: fields.count - 1, by: 2).map { index in
                (fields[index], try EngineRecord(fields[index + 1]))
            }
        }
    }
}

/// A countdown as the engine holds it.
struct EngineRecord: Decodable {
    let kind: String
    let state: String
    let duration: Int64
    let start: Int64
    let deadline: Int64?
    let label: String?

    /// Reads the engine's value of a key: a version, an ID and JSON.
    init(_ held: String) throws {
        let parts = held.split(separator: " ", maxSplits: 2)
        guard parts.count == 3 else { throw UnreadableRecord(text: held) }
        self = try JSONDecoder().decode(EngineRecord.self, from: Data(parts[2].utf8))
    }
}

/// The engine's content is not the record that a bridge should have written.
struct UnreadableRecord: Error {
    let text: String
}
