import Foundation
import JSONTree
import Varlink

/// A text that the reader accepts is an object to Foundation too, within Foundation's limits of depth and numbers, and it is
/// the same after it was written again.
public enum JSONHarness: Harness {
    private static let deepest = 500

    /// Checks one input.
    public static func check(_ input: inout Input) {
        let bytes = input.rest().bytes
        guard let tree = try? JSONValue(parsing: bytes) else { return }
        var writer = JSONWriter()
        writer.object { $0.member("tree", tree) }
        guard let again = try? JSONValue(parsing: writer.bytes) else {
            return expect(false, "\(writer.bytes) can be read again")
        }
        expect(again["tree"] == tree, "\(tree) comes back as it was")
        if depth(of: tree) < deepest, !hasVastNumber(bytes) {
            expect((try? JSONSerialization.jsonObject(with: Data(bytes))) != nil, "Foundation reads it too")
        }
        for end in bytes.indices.suffix(64) where bytes[end...].contains(where: { $0 > 0x20 }) {
            expect((try? JSONValue(parsing: bytes[..<end])) == nil, "an object without its end is none")
        }
    }

    /// Whether a number may have an exponent of three digits.
    private static func hasVastNumber(_ bytes: [UInt8]) -> Bool {
        String(decoding: bytes, as: UTF8.self).contains(/[eE][+-]?[0-9]{3}|[0-9]{200}/)
    }

    private static func depth(of value: JSONValue) -> Int {
        switch value {
        case .array(let elements): 1 + (elements.map(depth).max() ?? 0)
        case .object(let members): 1 + (members.values.map(depth).max() ?? 0)
        default: 1
        }
    }
}
