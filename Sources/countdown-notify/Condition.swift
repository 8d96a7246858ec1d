import CSystemd
import System

/// The condition of the program, for the log, `systemctl status` and other programs.
struct Condition {
    /// A problem that comes and goes. Every change is logged once.
    struct Problem {
        /// The problem in a sentence; nil once it is over.
        private(set) var sentence: String?

        mutating func report(_ sentence: String) {
            guard self.sentence != sentence else { return }
            writeLine(sentence)
            self.sentence = sentence
        }

        mutating func clear() {
            if let sentence { writeLine("resolved: \(sentence)") }
            sentence = nil
        }
    }

    var daemon = Problem()
    var bus = Problem()
    var service = Problem()
    var stateFile = Problem()
    /// It keeps no end from being shown.
    var sound = Problem()
    /// The name and the version of the notification service, as it answered; nil if none did.
    var server: String?
    /// Whether the bus starts a notification service if none runs.
    var isServiceStartable = false
    /// The status that systemd shows for the service, see sd_notify(3).
    private var status = ""
    /// The sentences about metadata that have been logged.
    private var metadata: Set<String> = []
    /// The most of these sentences.
    private static let maximumMetadata = 100

    /// The first problem, in the order in which they have to be solved.
    private var first: String? { daemon.sentence ?? bus.sentence ?? service.sentence ?? stateFile.sentence }

    /// Logs a sentence about metadata that is not valid, once.
    mutating func reportMetadata(_ sentence: String) {
        guard metadata.count < Self.maximumMetadata, metadata.insert(sentence).inserted else { return }
        writeLine(sentence)
    }

    /// Reports a line for `systemctl status` if it is new. It contains no key, because keys are often phone numbers.
    mutating func reportStatus(of ends: Ends) {
        let activity =
            ends.isCatchingUp ? "receiving earlier ends" : ends.waiting == 0 ? "everything is shown" : "showing ends"
        let parts = [first ?? activity, ends.waiting == 0 ? nil : "waiting: \(ends.waiting)", sound.sentence]
        let status = parts.compactMap(\.self).joined(separator: "; ")
        guard status != self.status else { return }
        self.status = status
        unsafe sd_notify(0, "STATUS=\(status)")
    }

    /// Where ends are shown, and whether they ring.
    func report(rings: Bool) -> String {
        let shower = server ?? (isServiceStartable ? "a service that the bus starts" : nil)
        let place = first ?? shower.map { "shown by \($0)" } ?? "no notification service"
        return "\(place); \(rings ? sound.sentence ?? "rings" : "silent (ring no)")"
    }
}

/// Writes a line to the log.
func writeLine(_ sentence: String) { Log.write(sentence, of: "countdown-notify") }
