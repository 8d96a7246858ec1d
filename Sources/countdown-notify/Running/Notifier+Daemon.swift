import IPC

/// What the daemon tells, and is asked.
extension Notifier {
    func attendDaemon() throws(Exit) {
        for happening in try endings.attend() { take(happening) }
        for happening in try progress?.attend() ?? [] {
            switch happening {
            case .began, .lost, .gap: teller.hideProgress()
            case .told(let events, _): teller.show(events)
            }
        }
    }

    private func take(_ happening: Subscription.Happening) {
        switch happening {
        case .began: teller.beginWatch()
        case .told(let events, let since):
            teller.take(events, since: since)
            supervisor.change(&obstacles.daemon, to: nil)
        case .lost(let error):
            teller.loseDaemon()
            supervisor.change(&obstacles.daemon, to: error.sentence)
        case .gap(let oldest):
            teller.noteGap(oldest)
            supervisor.log("the daemon does not keep all that ended since it was told last")
        }
    }

    func attendErrands() {
        errands.removeAll { errand in
            guard let outcome = errand.outcome() else { return false }
            if case .failure(let error) = outcome { teller.complain(errand.trouble(error)) }
            return true
        }
    }

    func carryOut(_ action: Action, of countdown: Countdown) {
        do {
            if let errand = try Errand(action, of: countdown, at: path) { errands.append(errand) }
        } catch {
            teller.complain(Errand.trouble(action, of: countdown, error))
        }
    }
}
