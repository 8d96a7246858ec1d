import CSystemd
import Glibc

extension BusMessage {
    /// What came; nil for what is neither an answer nor a signal.
    var arrival: Arrival? {
        var kind: UInt8 = 0
        var call: UInt64 = 0
        _ = unsafe sd_bus_message_get_type(pointer, &kind)
        _ = unsafe sd_bus_message_get_reply_cookie(pointer, &call)
        switch Int(kind) {
        case Int(SD_BUS_MESSAGE_METHOD_RETURN): return .reply(call: call, values)
        case Int(SD_BUS_MESSAGE_METHOD_ERROR): return .refusal(call: call, error: error)
        case Int(SD_BUS_MESSAGE_SIGNAL):
            return unsafe .signal(
                sender: text(sd_bus_message_get_sender(pointer)),
                interface: text(sd_bus_message_get_interface(pointer)),
                member: text(sd_bus_message_get_member(pointer)),
                values
            )
        default:
            // Nobody has to wait for an answer until he loses patience.
            unsafe sd_bus_reply_method_errno(pointer, EOPNOTSUPP, nil)
            return nil
        }
    }

    private var error: String {
        guard let error = unsafe sd_bus_message_get_error(pointer) else { return "" }
        return unsafe text(error.pointee.name)
    }

    /// What it carries, up to the first value of a type that notifications do not have.
    private var values: [BusValue] {
        var values: [BusValue] = []
        while let value = nextValue() { values.append(value) }
        return values
    }

    private func nextValue() -> BusValue? {
        var kind: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_peek_type(pointer, &kind, &contents) > 0 else { return nil }
        switch kind {
        case type("s"): return nextString().map(BusValue.string)
        case type("u"):
            var number: UInt32 = 0
            return unsafe sd_bus_message_read_basic(pointer, kind, &number) > 0 ? .uint32(number) : nil
        case type("a") where unsafe text(contents) == "s":
            guard unsafe sd_bus_message_enter_container(pointer, kind, "s") > 0 else { return nil }
            var strings: [String] = []
            while let string = nextString() { strings.append(string) }
            return unsafe sd_bus_message_exit_container(pointer) >= 0 ? .strings(strings) : nil
        default: return nil
        }
    }

    private func nextString() -> String? {
        var string: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_read_basic(pointer, type("s"), &string) > 0 else { return nil }
        return unsafe text(string)
    }
}

private func text(_ pointer: UnsafePointer<CChar>?) -> String {
    guard let pointer = unsafe pointer else { return "" }
    return unsafe String(cString: pointer)
}
