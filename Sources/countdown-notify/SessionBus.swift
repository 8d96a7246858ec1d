import CSystemd
import Glibc

/// A connection to a session bus. It never blocks.
@safe
struct SessionBus: ~Copyable {
    private let bus: OpaquePointer

    private init(adopting bus: OpaquePointer) { unsafe self.bus = bus }

    /// Connects to a session bus; it may still be in the handshake. A nil address is that of the environment, or of the
    /// bus in the runtime directory, see sd_bus_open_user(3).
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

    /// The descriptor and the events to poll for, and the deadline: microseconds of CLOCK_MONOTONIC, nil for none.
    func readiness() throws(BusFailure) -> (descriptor: Int32, events: Int16, monotonicUSec: Int64?) {
        let descriptor = try BusFailure.check("sd_bus_get_fd") { unsafe sd_bus_get_fd(bus) }
        let events = try BusFailure.check("sd_bus_get_events") { unsafe sd_bus_get_events(bus) }
        var timeout: UInt64 = .max
        _ = try BusFailure.check("sd_bus_get_timeout") { unsafe sd_bus_get_timeout(bus, &timeout) }
        return (descriptor, Int16(truncatingIfNeeded: events), timeout == .max ? nil : Int64(clamping: timeout))
    }

    /// Sends a call, and returns the number that its answer will have.
    func send(_ call: MethodCall) throws(BusFailure) -> UInt64 {
        let message = try unsafe BusMessage.written(call, over: bus)
        var number: UInt64 = 0
        _ = try BusFailure.check("sd_bus_send") {
            unsafe message.withPointer { unsafe sd_bus_send(bus, $0, &number) }
        }
        return number
    }

    /// The next message; nil if no message has arrived.
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
}
