import IPC

/// The session bus as long as it lasts, and the next one after it.
final class BusLink {
    /// What came of it.
    enum Happening: Equatable {
        /// A call was answered; nil where it was refused.
        case answered(Teller.Purpose, [BusValue]?)
        case heard(ServiceSignal)
        /// A call cannot be written, on this bus or any other; it was not sent.
        case unwritable(Teller.Purpose, BusFailure)
        /// The bus is gone, and the calls on their way with it; or there is none.
        case lost(BusFailure)
    }

    private let address: String?
    private var bus: SessionBus?
    /// What the calls on their way were made for, by their numbers.
    private var purposes: [UInt64: Teller.Purpose] = [:]
    private var attempts = 0
    private var attempt: Client.Deadline = .passed

    /// - Parameter address: the D-Bus address to connect to; nil for the one that the environment names.
    init(address: String? = nil) { self.address = address }

    /// Whether calls can be made.
    var isOpen: Bool { bus != nil }

    /// What poll(2) is to wait for; nil where there is no bus.
    func readiness() -> (descriptor: Int32, events: Int16)? {
        // What fails here fails in attend() as well, which says so.
        guard let readiness = try? bus?.readiness() else { return nil }
        return (readiness.descriptor, readiness.events)
    }

    /// When there is something to do though nothing comes.
    var deadline: Client.Deadline? {
        guard bus != nil else { return attempt }
        guard let readiness = try? bus?.readiness() else { return .passed }
        return readiness.monotonicUSec.map(Client.Deadline.init)
    }

    /// Connects where it is time to, and takes what came.
    func attend() -> [Happening] {
        var happenings: [Happening] = []
        do {
            try connect()
            while let arrival = try bus?.next() {
                if let happening = take(arrival) { happenings.append(happening) }
            }
        } catch {
            happenings.append(lose(error))
        }
        return happenings
    }

    /// Makes a call.
    func send(_ outgoing: Teller.Outgoing) -> Happening? {
        do throws(SendFailure) {
            guard let number = try bus?.send(outgoing.call) else { return nil }
            purposes[number] = outgoing.purpose
            return nil
        } catch {
            switch error {
            case .unwritable(let failure): return .unwritable(outgoing.purpose, failure)
            case .lost(let failure): return lose(failure)
            }
        }
    }

    /// Sends what has been kept back so far.
    func flush() { try? bus?.flush() }

    private func connect() throws(BusFailure) {
        guard bus == nil, attempt.remainingUSec == 0 else { return }
        let bus = try SessionBus.connected(to: address)
        do throws(SendFailure) {
            for call in ServiceSignal.subscriptions { _ = try bus.send(call) }
        } catch {
            throw error.failure
        }
        self.bus = consume bus
    }

    private func take(_ arrival: Arrival) -> Happening? {
        attempts = 0
        switch arrival {
        case .reply(let call, let values): return purposes.removeValue(forKey: call).map { .answered($0, values) }
        case .refusal(let call, _): return purposes.removeValue(forKey: call).map { .answered($0, nil) }
        case .signal:
            let signal = ServiceSignal(arrival)
            // What the one before was asked is nothing to the next.
            if case .changed = signal { purposes = [:] }
            return signal.map { .heard($0) }
        }
    }

    private func lose(_ failure: BusFailure) -> Happening {
        bus = nil
        purposes = [:]
        attempts += 1
        attempt = .after(microseconds: Reconnection.pause(before: attempts))
        return .lost(failure)
    }
}
