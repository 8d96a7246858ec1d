import Glibc
import IPC

/// What comes and goes over the bus, and what is remembered of it.
extension Notifier {
    func attendBus() {
        for happening in bus.attend() { take(happening) }
        guard let retry, retry.remainingUSec == 0 else { return }
        self.retry = nil
        teller.retry()
    }

    private func take(_ happening: BusLink.Happening) {
        switch happening {
        case .answered(let purpose, let values): teller.take(values, to: purpose)
        case .heard(let signal):
            if let (action, countdown) = teller.take(signal) { carryOut(action, of: countdown) }
        case .unwritable(let purpose, let failure):
            supervisor.log("a notification cannot be written: \(failure.call): \(systemMessage(failure.code))")
            teller.drop(purpose)
        case .lost(let failure):
            teller.loseBus()
            supervisor.change(&obstacles.bus, to: "no session bus: \(failure.sentence)")
        }
    }

    func sendCalls() {
        while bus.isOpen, let call = teller.next(Wording()) {
            if let happening = bus.send(call) { take(happening) }
        }
        let dropped = teller.takeDropped()
        if dropped > 0 { supervisor.log("gave up on notifications that cannot be shown; dropped: \(dropped)") }
        guard bus.isOpen else { return }
        supervisor.change(&obstacles.bus, to: nil)
        switch teller.service {
        case .failed:
            supervisor.change(&obstacles.service, to: "nobody shows notifications")
            retry = retry ?? .after(microseconds: teller.pause)
        case .ready: supervisor.change(&obstacles.service, to: nil)
        case .unknown, .asked: break
        }
    }

    func writeRecord() {
        guard let told = teller.takeRecord() else { return }
        do {
            try record.write(told)
            supervisor.change(&obstacles.record, to: nil)
        } catch {
            teller.keepRecordDue()
            supervisor.change(&obstacles.record, to: "what is told cannot be remembered: \(systemMessage(error.code))")
        }
    }
}

extension BusFailure {
    /// What is said of it.
    var sentence: String {
        // What sd_bus_open_user(3) says where it has no address.
        guard code == ENOMEDIUM else { return systemMessage(code) }
        return "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR says where one is"
    }
}
