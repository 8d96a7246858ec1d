import CSystemd
import Glibc
import System

/// A call of a method on the session bus.
struct MethodCall: Hashable, Sendable {
    /// The object and the interface that are called.
    struct BusObject: Hashable, Sendable {
        let name: String
        let path: String
        let interface: String

        static let notifications = BusObject(
            name: "org.freedesktop.Notifications",
            path: "/org/freedesktop/Notifications",
            interface: "org.freedesktop.Notifications"
        )
        static let bus = BusObject(
            name: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus"
        )
    }

    let object: BusObject
    let member: String
    let arguments: [BusValue]
    /// Whether the bus starts the service if it does not run.
    var startsService = true

    init(_ object: BusObject, _ member: String, _ arguments: BusValue...) {
        self.object = object
        self.member = member
        self.arguments = arguments
    }
}

/// A value in a message, of the types that notifications use.
enum BusValue: Hashable, Sendable {
    case bool(Bool)
    case byte(UInt8)
    case int32(Int32)
    case uint32(UInt32)
    case string(String)
    case strings([String])
    /// Values by name, in this order.
    case dictionary([NamedValue])

    struct NamedValue: Hashable, Sendable {
        let name: String
        let value: BusValue
    }
}

enum IncomingMessage: Equatable {
    /// The answer to a call; `call` is the number that sending it returned. Nil if the destination or the bus refused it.
    case answer(call: UInt64, [BusValue]?)
    case signal(sender: String, interface: String, member: String, [BusValue])
}

/// A call of sd-bus that failed.
struct BusFailure: Error, Equatable, CustomStringConvertible {
    let call: String
    /// The error number, see errno(3).
    let code: Int32

    var description: String { "\(call): \(systemMessage(code))" }

    /// Why there is no connection, in words.
    var explanation: String {
        // sd_bus_open_user(3) returns ENOMEDIUM if it knows no address.
        guard code == ENOMEDIUM else { return systemMessage(code) }
        return "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set"
    }

    /// Whether sd-bus refuses a value in the message, so that it cannot be sent on another connection either. Otherwise the
    /// connection cannot be used any more, or memory is short, and the call can be made again on the next connection.
    var isOfMessage: Bool { [EINVAL, EBADMSG, EMSGSIZE, E2BIG, EOPNOTSUPP].contains(code) }

    /// The result of a call; throws if it is negative.
    static func check(_ name: StaticString, _ call: () -> Int32) throws(BusFailure) -> Int32 {
        let result = call()
        guard result >= 0 else { throw BusFailure(call: "\(name)", code: -result) }
        return result
    }
}

/// A message of sd-bus, with its reference.
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

    /// Writes a call for a bus.
    static func written(_ call: MethodCall, over bus: OpaquePointer) throws(BusFailure) -> BusMessage {
        let to = call.object
        var pointer: OpaquePointer?
        let name: StaticString = "sd_bus_message_new_method_call"
        _ = try BusFailure.check(name) {
            unsafe sd_bus_message_new_method_call(bus, &pointer, to.name, to.path, to.interface, call.member)
        }
        guard let pointer = unsafe pointer else { throw BusFailure(call: "\(name)", code: ENOMEM) }
        let message = unsafe BusMessage(adopting: pointer)
        _ = try BusFailure.check("sd_bus_message_set_auto_start") {
            unsafe sd_bus_message_set_auto_start(pointer, call.startsService ? 1 : 0)
        }
        for argument in call.arguments { try message.append(argument) }
        return message
    }

    /// Lends the message; the pointer is valid inside the closure only.
    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result { unsafe body(pointer) }

    private func append(_ value: BusValue) throws(BusFailure) {
        switch value {
        // sd-bus takes an int.
        case .bool(let isTrue): try append("b", CInt(isTrue ? 1 : 0))
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

    private func append(_ entry: BusValue.NamedValue) throws(BusFailure) {
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
        case .bool: "b"
        case .byte: "y"
        case .int32: "i"
        case .uint32: "u"
        case .string: "s"
        case .strings: "as"
        case .dictionary: "a{sv}"
        }
    }
}

/// The letter of a type in a signature.
func type(_ letter: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }

extension BusMessage {
    /// The content of the message; nil if it is neither an answer nor a signal.
    var message: IncomingMessage? {
        var kind: UInt8 = 0
        var call: UInt64 = 0
        _ = unsafe sd_bus_message_get_type(pointer, &kind)
        _ = unsafe sd_bus_message_get_reply_cookie(pointer, &call)
        switch Int(kind) {
        case Int(SD_BUS_MESSAGE_METHOD_RETURN): return .answer(call: call, values)
        case Int(SD_BUS_MESSAGE_METHOD_ERROR): return .answer(call: call, nil)
        case Int(SD_BUS_MESSAGE_SIGNAL):
            return unsafe .signal(
                sender: text(sd_bus_message_get_sender(pointer)),
                interface: text(sd_bus_message_get_interface(pointer)),
                member: text(sd_bus_message_get_member(pointer)),
                values
            )
        default:
            // A caller should not have to wait until its call times out.
            unsafe sd_bus_reply_method_errno(pointer, EOPNOTSUPP, nil)
            return nil
        }
    }

    /// The values, up to the first one of a type that notifications do not use.
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
