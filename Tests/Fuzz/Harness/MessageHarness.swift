import IPC
import Varlink

/// The parameters of every method and reply are the same after they were written and read again.
public enum MessageHarness: Harness {
    /// Checks one input.
    public static func check(_ input: inout Input) {
        let number = Int(input.next()) % Interface.methods.count
        let isReply = input.next() & 1 == 1
        check(Interface.methods[number], isReply, input.rest().bytes)
    }

    private static func check<M: Varlink.Method>(_ method: M.Type, _ isReply: Bool, _ text: [UInt8]) {
        if isReply { check(M.Reply.self, text) } else { check(M.self, text) }
    }

    private static func check<Value: JSONEncodable & JSONDecodable & Equatable>(
        _ type: Value.Type,
        _ text: [UInt8]
    ) {
        guard let value = try? Value(json: text) else { return }
        var writer = JSONWriter()
        writer.object { value.encode(into: &$0) }
        let again = try? Value(json: writer.bytes)
        expect(again == value, "\(value) comes back as it was, not as \(String(describing: again))")
    }
}
