import CSystemd
import Glibc

/// A message of the bus, as sd-bus holds it.
@safe
struct BusMessage: ~Copyable {
    let pointer: OpaquePointer

    /// Takes over a reference.
    init(adopting pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit {
        _ = unsafe sd_bus_message_unref(pointer)
    }

    /// Writes a call, which goes out over that bus.
    static func written(_ call: MethodCall, over bus: OpaquePointer) throws(BusFailure) -> BusMessage {
        let to = call.recipient
        var pointer: OpaquePointer?
        let name: StaticString = "sd_bus_message_new_method_call"
        _ = try BusFailure.check(name) {
            unsafe sd_bus_message_new_method_call(bus, &pointer, to.name, to.path, to.interface, call.member)
        }
        guard let pointer = unsafe pointer else { throw BusFailure(call: "\(name)", code: ENOMEM) }
        let message = unsafe BusMessage(adopting: pointer)
        for argument in call.arguments { try message.append(argument) }
        return message
    }

    /// Hands the message out; the pointer is good inside the body alone.
    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result { unsafe body(pointer) }
}

extension BusMessage {
    private func append(_ value: BusValue) throws(BusFailure) {
        switch value {
        case .byte(let number): try append("y", number)
        case .int32(let number): try append("i", number)
        case .uint32(let number): try append("u", number)
        case .string(let text):
            _ = try BusFailure.check("sd_bus_message_append_basic") {
                unsafe text.withCString { unsafe sd_bus_message_append_basic(pointer, type("s"), $0) }
            }
        case .strings(let texts):
            try container("a", of: "s") { () throws(BusFailure) in
                for text in texts { try append(.string(text)) }
            }
        case .dictionary(let entries):
            try container("a", of: "{sv}") { () throws(BusFailure) in
                for entry in entries { try append(entry) }
            }
        }
    }

    private func append(_ entry: BusValue.Entry) throws(BusFailure) {
        try container("e", of: "sv") { () throws(BusFailure) in
            try append(.string(entry.name))
            try container("v", of: entry.value.signature) { () throws(BusFailure) in try append(entry.value) }
        }
    }

    private func append(_ letter: Unicode.Scalar, _ number: some BitwiseCopyable) throws(BusFailure) {
        _ = try BusFailure.check("sd_bus_message_append_basic") {
            unsafe withUnsafeBytes(of: number) {
                unsafe sd_bus_message_append_basic(pointer, type(letter), $0.baseAddress)
            }
        }
    }

    private func container(
        _ letter: Unicode.Scalar,
        of contents: String,
        _ body: () throws(BusFailure) -> Void
    ) throws(BusFailure) {
        _ = try BusFailure.check("sd_bus_message_open_container") {
            unsafe sd_bus_message_open_container(pointer, type(letter), contents)
        }
        try body()
        _ = try BusFailure.check("sd_bus_message_close_container") { unsafe sd_bus_message_close_container(pointer) }
    }
}

extension BusValue {
    fileprivate var signature: String {
        switch self {
        case .byte: "y"
        case .int32: "i"
        case .uint32: "u"
        case .string: "s"
        case .strings: "as"
        case .dictionary: "a{sv}"
        }
    }
}

extension BusFailure {
    /// What the call returned, where that is not negative; else the failure that it is.
    static func check(_ name: StaticString, _ call: () -> Int32) throws(BusFailure) -> Int32 {
        let result = call()
        guard result >= 0 else { throw BusFailure(call: "\(name)", code: -result) }
        return result
    }
}

/// The letter of a type in a signature.
func type(_ letter: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }
