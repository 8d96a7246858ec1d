import IPC

/// What comes over the bus.
extension Teller {
    /// Notes that the bus is gone, and with it all that was on its way.
    mutating func loseBus() { change() }

    /// Takes the answer to a call; nil is a refusal.
    mutating func take(_ answer: [BusValue]?, to purpose: Purpose) {
        guard purpose != .none else { return }
        isAwaiting = false
        if answer != nil, purpose != .capabilities { succeed() }
        switch (purpose, answer) {
        case (.none, _): break
        case (.capabilities, let values?):
            guard case .strings(let names) = values.first else { return fail() }
            service = .ready(Capabilities(named: names))
        case (.telling(let telling), let values?): note(telling, values.number)
        case (.trouble(let trouble), _?): settle(trouble)
        case (.progress(let key), let values?):
            if let number = values.number, !board.show(key, as: number) { close(number) }
        case (.progress(let key), nil):
            board.retry(key)
            fail()
        case (_, nil): fail()
        }
    }

    /// Takes a signal, and returns what somebody chose to be done.
    mutating func take(_ signal: ServiceSignal) -> (Action, Countdown)? {
        switch signal {
        case .changed: change()
        case .closed(let number):
            _ = takeOffer(number)
            board.close(number)
        case .chosen(let action, let number):
            guard let telling = takeOffer(number) else { return nil }
            close(number)
            if case .ending(let countdown) = telling { return (action, countdown) }
        }
        return nil
    }

    /// How long to wait before whoever shows notifications is tried again, in microseconds.
    var pause: Int64 { Reconnection.pause(before: failures) }

    /// Tries again.
    mutating func retry() {
        if service == .failed { service = .unknown }
    }

    mutating func note(_ telling: Telling, _ number: UInt32?) {
        if let number, telling != .gap { offer(telling, as: number) }
        backlog.remove(telling)
        let revision = telling == .gap ? max(delivered ?? .min, oldest ?? .min) : telling.revision
        delivered = revision ?? delivered
        lastEnding = telling.revision ?? lastEnding
        isRecordDue = true
    }

    private mutating func fail() {
        failures += 1
        service = .failed
    }

    private mutating func change() {
        isAwaiting = false
        failures = 0
        service = .unknown
        forgetNumbers()
    }
}

extension [BusValue] {
    /// The number of the notification that was made.
    fileprivate var number: UInt32? {
        guard case .uint32(let number) = first else { return nil }
        return number
    }
}
