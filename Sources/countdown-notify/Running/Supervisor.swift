import CSystemd
import Glibc

/// What keeps endings from being told, or from being told once; each is a sentence, nil where all is well.
struct Obstacles: Equatable {
    var daemon: String?
    var bus: String?
    var service: String?
    var record: String?

    /// The first of them.
    var first: String? { daemon ?? bus ?? service ?? record }
}

/// What systemd and the log are told.
final class Supervisor {
    private var status = ""

    func becomeReady() { notify("READY=1") }

    func stop() { notify("STOPPING=1") }

    /// Says how it is, for `systemctl status`, where that is new. It names no key: those are often phone numbers.
    func report(_ obstacles: Obstacles, of teller: Teller) {
        let waiting = teller.backlog.waiting
        let activity = teller.isCatchingUp ? "hearing what happened before" : waiting == 0 ? "all is told" : "telling"
        let situation = obstacles.first ?? activity
        let status = waiting == 0 ? situation : "\(situation); to be told: \(waiting)"
        guard status != self.status else { return }
        self.status = status
        notify("STATUS=\(status)")
    }

    /// Notes an obstacle, or that it is gone, and logs where that is news.
    func change(_ obstacle: inout String?, to sentence: String?) {
        guard obstacle != sentence else { return }
        if let sentence { log(sentence) } else if let obstacle { log("no longer: \(obstacle)") }
        obstacle = sentence
    }

    func log(_ sentence: String) { writeLine(sentence) }

    private func notify(_ state: String) { unsafe sd_notify(0, state) }
}

/// Writes a line to standard error; nothing is done about one that cannot be written.
func writeLine(_ sentence: String) {
    var line = "countdown-notify: \(sentence)\n"
    line.withUTF8 { unsafe _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
