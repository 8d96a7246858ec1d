import CountdownCore

extension Outage.News {
    /// The line for the log; `cause` is what fails, why, and what can be done, and of no interest where all works.
    func sentence(_ cause: String?) -> String {
        switch self {
        case .began:
            """
            changes cannot be stored: \(cause ?? ""); until they can, what asks for a change is refused, and what \
            ends is told all the same and stored later
            """
        case .ended(let span, let late):
            "changes can be stored again, after \(Self.text(of: span))\(Self.text(ofLate: late))"
        case .comesAndGoes:
            """
            changes cannot be stored once more: \(cause ?? ""); as it comes and goes, nothing is said of it before \
            it has worked for a minute
            """
        case .settled(let span, let times, let late):
            """
            changes can be stored, and could for a minute; before, that failed \(times) times in \
            \(Self.text(of: span))\(Self.text(ofLate: late))
            """
        }
    }

    /// How much the line matters.
    var level: Log.Level {
        switch self {
        case .began, .comesAndGoes: .error
        case .ended, .settled: .notice
        }
    }

    private static func text(ofLate count: Int) -> String {
        count == 0 ? "" : "; \(count) \(count == 1 ? "ending" : "endings") stored late"
    }

    /// In the two greatest units.
    private static func text(of span: Duration) -> String {
        let milliseconds = max(0, span.microseconds / 1_000)
        let (seconds, minutes, hours) = (milliseconds / 1_000, milliseconds / 60_000, milliseconds / 3_600_000)
        if seconds == 0 { return "\(milliseconds) ms" }
        if minutes == 0 { return "\(seconds) s" }
        return hours == 0 ? "\(minutes) min \(seconds % 60) s" : "\(hours) h \(minutes % 60) min"
    }
}
