import IPC
import Varlink

/// Parameters of every method and of every reply: what can be read is the same after it was written.
public enum MessageHarness: Harness {
    public static func check(_ input: inout Input) {
        let number = Int(input.next()) % Interface.methods.count
        let isReply = input.next() & 1 == 1
        guard let object = try? JSONObject(parsing: input.rest().bytes) else { return }
        check(Interface.methods[number], isReply, object)
    }

    private static func check<M: IPC.Method>(_ method: M.Type, _ isReply: Bool, _ object: JSONObject) {
        if isReply { check(M.Reply.self, object) } else { check(M.self, object) }
    }

    private static func check<Value: JSONEncodable & JSONDecodable & Equatable>(
        _ type: Value.Type,
        _ object: JSONObject
    ) {
        guard let value = try? Value(decoding: object) else { return }
        var writer = JSONWriter()
        writer.object { value.encode(into: &$0) }
        let again = (try? JSONObject(parsing: writer.bytes)).flatMap { try? Value(decoding: $0) }
        expect(again == value, "\(value) comes back as it was, not as \(String(describing: again))")
    }
}
