import CSystemd
import Glibc
import IPC
import System

/// The session bus, with reconnecting.
final class BusConnection {
    private let address: String?
    private var bus: SessionBus?
    /// What the calls without an answer were made for, by their numbers.
    private var purposes: [UInt64: NotificationQueue.Purpose] = [:]
    private var attempts = 0
    private var attempt: MonotonicDeadline = .passed

    /// - Parameter address: the D-Bus address to connect to; nil for the one that the environment names.
    init(address: String? = nil) { self.address = address }

    /// Whether calls can be made.
    var isOpen: Bool { bus != nil }

    /// What to poll for; nil if there is no connection.
    func readiness() -> (descriptor: Int32, events: Int16)? {
        // If this fails, advance() fails as well and reports it.
        guard let readiness = try? bus?.readiness() else { return nil }
        return (readiness.descriptor, readiness.events)
    }

    /// When to call `advance` though the descriptor is not ready.
    var deadline: MonotonicDeadline? {
        guard bus != nil else { return attempt }
        guard let readiness = try? bus?.readiness() else { return .passed }
        return readiness.monotonicUSec.map(MonotonicDeadline.init)
    }

    /// Connects if it is time to, and returns what happened.
    func advance() -> [BusEvent] {
        var events: [BusEvent] = []
        do {
            try connect()
            while let message = try bus?.next() {
                if let event = event(of: message) { events.append(event) }
            }
        } catch {
            events.append(close(error))
        }
        return events
    }

    /// Sends a call.
    ///
    /// - Returns: why it was not sent.
    func send(_ outgoing: NotificationQueue.Outgoing) -> BusEvent? {
        do throws(SendFailure) {
            guard let number = try bus?.send(outgoing.call) else { return nil }
            purposes[number] = outgoing.purpose
            return nil
        } catch {
            switch error {
            case .unwritable(let failure): return .unwritable(outgoing.purpose, failure)
            case .lost(let failure): return close(failure)
            }
        }
    }

    /// Waits until everything has been sent.
    func flush() { try? bus?.flush() }

    private func connect() throws(BusFailure) {
        guard bus == nil, attempt.hasPassed else { return }
        let bus = try SessionBus.connected(to: address)
        do throws(SendFailure) {
            for call in DesktopSignal.subscriptions { _ = try bus.send(call) }
        } catch {
            throw error.failure
        }
        self.bus = consume bus
    }

    private func event(of message: IncomingMessage) -> BusEvent? {
        attempts = 0
        switch message {
        case .reply(let call, let values): return purposes.removeValue(forKey: call).map { .answered($0, values) }
        case .refusal(let call, _): return purposes.removeValue(forKey: call).map { .answered($0, nil) }
        case .signal:
            let signal = DesktopSignal(message)
            // Answers of the previous service do not matter any more.
            if signal == .serviceChanged { purposes = [:] }
            return signal.map { .signal($0) }
        }
    }

    private func close(_ failure: BusFailure) -> BusEvent {
        bus = nil
        purposes = [:]
        attempts += 1
        attempt = .after(microseconds: Backoff.delay(before: attempts))
        return .lost(failure)
    }
}

/// What happened on the session bus.
enum BusEvent: Equatable {
    /// A call was answered; nil if it was refused.
    case answered(NotificationQueue.Purpose, [BusValue]?)
    case signal(DesktopSignal)
    /// A call cannot be written, on this connection or any other. It was not sent.
    case unwritable(NotificationQueue.Purpose, BusFailure)
    /// There is no connection, and calls without an answer are lost.
    case lost(BusFailure)
}

/// A connection to a session bus. It never blocks, except in `flush`.
@safe
struct SessionBus: ~Copyable {
    private let bus: OpaquePointer

    private init(adopting bus: OpaquePointer) { unsafe self.bus = bus }

    /// Connects to a session bus.
    ///
    /// - Parameter address: a D-Bus address such as `unix:path=/run/user/1000/bus`; nil for the bus that the environment
    ///   names, or the one in the runtime directory, see sd_bus_open_user(3).
    /// - Returns: the connection, which may still be in the handshake.
    /// - Throws: that there is no bus at that address.
    static func connected(to address: String? = nil) throws(BusFailure) -> SessionBus {
        var pointer: OpaquePointer?
        _ = try BusFailure.check(address == nil ? "sd_bus_open_user" : "sd_bus_new") {
            unsafe address == nil ? sd_bus_open_user(&pointer) : sd_bus_new(&pointer)
        }
        guard let pointer = unsafe pointer else { throw BusFailure(call: "sd_bus_new", code: ENOMEM) }
        let bus = unsafe SessionBus(adopting: pointer)
        guard let address else { return bus }
        _ = try BusFailure.check("sd_bus_set_address") { unsafe sd_bus_set_address(pointer, address) }
        _ = try BusFailure.check("sd_bus_set_bus_client") { unsafe sd_bus_set_bus_client(pointer, 1) }
        _ = try BusFailure.check("sd_bus_start") { unsafe sd_bus_start(pointer) }
        return bus
    }

    deinit {
        _ = unsafe sd_bus_close_unref(bus)
    }

    /// What to poll for, and until when: microseconds of CLOCK_MONOTONIC, nil for no deadline.
    func readiness() throws(BusFailure) -> (descriptor: Int32, events: Int16, monotonicUSec: Int64?) {
        let descriptor = try BusFailure.check("sd_bus_get_fd") { unsafe sd_bus_get_fd(bus) }
        let events = try BusFailure.check("sd_bus_get_events") { unsafe sd_bus_get_events(bus) }
        var timeout: UInt64 = .max
        _ = try BusFailure.check("sd_bus_get_timeout") { unsafe sd_bus_get_timeout(bus, &timeout) }
        return (descriptor, Int16(truncatingIfNeeded: events), timeout == .max ? nil : Int64(clamping: timeout))
    }

    /// Sends a call, and returns the number that its answer will have.
    func send(_ call: MethodCall) throws(SendFailure) -> UInt64 {
        do throws(BusFailure) {
            let message = try unsafe BusMessage.written(call, over: bus)
            var number: UInt64 = 0
            _ = try BusFailure.check("sd_bus_send") {
                unsafe message.withPointer { unsafe sd_bus_send(bus, $0, &number) }
            }
            return number
        } catch {
            throw SendFailure(error)
        }
    }

    /// The next message; nil if there is none for now.
    func next() throws(BusFailure) -> IncomingMessage? {
        while true {
            var message: OpaquePointer?
            let progress = try BusFailure.check("sd_bus_process") { unsafe sd_bus_process(bus, &message) }
            if let message = unsafe message {
                if let message = unsafe BusMessage(adopting: message).message { return message }
            } else if progress == 0 {
                return nil
            }
        }
    }

    /// Waits until everything has been sent.
    func flush() throws(BusFailure) {
        _ = try BusFailure.check("sd_bus_flush") { unsafe sd_bus_flush(bus) }
    }
}

/// A call of a method on the session bus.
struct MethodCall: Hashable, Sendable {
    /// The object and the interface that are called.
    struct Destination: Hashable, Sendable {
        let name: String
        let path: String
        let interface: String

        /// The notification service.
        static let notifications = Destination(
            name: "org.freedesktop.Notifications",
            path: "/org/freedesktop/Notifications",
            interface: "org.freedesktop.Notifications"
        )
        /// The bus itself.
        static let bus = Destination(
            name: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus"
        )
    }

    let destination: Destination
    let member: String
    let arguments: [BusValue]

    init(_ destination: Destination, _ member: String, _ arguments: BusValue...) {
        self.destination = destination
        self.member = member
        self.arguments = arguments
    }
}

/// A value in a message, of the types that notifications use.
enum BusValue: Hashable, Sendable {
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

/// A message that was received.
enum IncomingMessage: Equatable {
    /// The answer to a call; `call` is the number that sending it returned.
    case reply(call: UInt64, [BusValue])
    /// The destination or the bus refused a call; `error` is the name of the error.
    case refusal(call: UInt64, error: String)
    case signal(sender: String, interface: String, member: String, [BusValue])
}

/// Why a call was not sent.
enum SendFailure: Error, Equatable {
    /// The message cannot be written, on another connection neither: sd-bus refuses a value in it.
    case unwritable(BusFailure)
    /// The connection cannot be used any more, or memory is short. The call can be made again on the next connection.
    case lost(BusFailure)

    /// A failure of the functions that write or send a message.
    init(_ failure: BusFailure) {
        switch failure.code {
        case EINVAL, EBADMSG, EMSGSIZE, E2BIG, EOPNOTSUPP: self = .unwritable(failure)
        default: self = .lost(failure)
        }
    }

    /// The call of sd-bus that failed.
    var failure: BusFailure {
        switch self {
        case .unwritable(let failure), .lost(let failure): failure
        }
    }
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
        let to = call.destination
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

    /// Lends the message; the pointer is valid inside the closure only.
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
            // A caller should not have to wait until its call times out.
            unsafe sd_bus_reply_method_errno(pointer, EOPNOTSUPP, nil)
            return nil
        }
    }

    private var error: String {
        guard let error = unsafe sd_bus_message_get_error(pointer) else { return "" }
        return unsafe text(error.pointee.name)
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
