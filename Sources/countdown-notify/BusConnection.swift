import Glibc
import IPC
import System

/// The session bus, with reconnecting.
final class BusConnection {
    private let address: String?
    private var bus: SessionBus?
    /// The purposes of the calls without an answer, by their numbers.
    private var purposes: [UInt64: NotificationQueue.Purpose] = [:]
    private var attempts = 0
    private var attempt: MonotonicDeadline = .passed

    /// Connects to a D-Bus address; nil for the one that the environment names.
    init(address: String? = nil) { self.address = address }

    /// Whether calls can be made.
    var isOpen: Bool { bus != nil }

    /// The descriptor and the events to poll for; nil if there is no connection.
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

    /// Connects if it is time to, and returns the events since the last call.
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

    /// Sends a call, and returns why it was not sent.
    func send(_ outgoing: NotificationQueue.Outgoing) -> BusEvent? {
        do {
            if let number = try bus?.send(outgoing.call) { purposes[number] = outgoing.purpose }
            return nil
        } catch {
            return error.isOfMessage ? .unwritable(outgoing.purpose, error) : close(error)
        }
    }

    /// Whether something was not sent completely.
    var hasUnsent: Bool { readiness().map { $0.events & Int16(POLLOUT) != 0 } ?? false }

    private func connect() throws(BusFailure) {
        guard bus == nil, attempt.hasPassed else { return }
        let bus = try SessionBus.connected(to: address)
        for call in DesktopSignal.subscriptions { _ = try bus.send(call) }
        self.bus = consume bus
    }

    private func event(of message: IncomingMessage) -> BusEvent? {
        attempts = 0
        switch message {
        case .answer(let call, let values): return purposes.removeValue(forKey: call).map { .answered($0, values) }
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

enum BusEvent: Equatable {
    /// A call was answered; nil if it was refused.
    case answered(NotificationQueue.Purpose, [BusValue]?)
    case signal(DesktopSignal)
    /// A call cannot be written, on this connection or any other. It was not sent.
    case unwritable(NotificationQueue.Purpose, BusFailure)
    /// There is no connection, and calls without an answer are lost.
    case lost(BusFailure)
}
