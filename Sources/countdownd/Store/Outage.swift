import CountdownCore
import System
import Text

/// When a failing store is logged: once when it begins to fail, and once when it works again.
///
/// A disk that fails now and then would cause endless lines. So a store that fails again within a minute is logged once as
/// flapping, and then not before it has worked for a minute.
struct Outage {
    /// A transition that is logged.
    enum Transition: Equatable {
        case began
        /// The store works again, after this time; this many ends were stored late.
        case ended(after: Duration, late: Int)
        /// The store fails again so soon that further transitions are not logged.
        case flapping
        /// The store has worked for a minute, after it failed this often in this time.
        case recovered(after: Duration, times: Int, late: Int)
    }

    /// A store has recovered after it has worked for this long.
    static let recoveryTime = Duration.seconds(60)

    private struct Course {
        let began: BootInstant
        var times = 1
        var late = 0
        /// When the store began to work again; nil while it fails.
        var ended: BootInstant?
        var isFlapping = false
    }

    private var course: Course?

    /// When a line is due even if nothing happens.
    var next: BootInstant? {
        guard let course, course.isFlapping else { return nil }
        return course.ended.map { $0 + Self.recoveryTime }
    }

    /// Notes that the store failed.
    mutating func fail(at now: BootInstant) -> Transition? {
        guard let course else {
            self.course = Course(began: now)
            return .began
        }
        guard course.ended != nil else { return nil }
        self.course = Course(began: course.began, times: course.times + 1, late: course.late, isFlapping: true)
        return course.isFlapping ? nil : .flapping
    }

    /// Notes that everything could be stored, and how many ends were stored late.
    mutating func recover(at now: BootInstant, late: Int) -> Transition? {
        guard var course, course.ended == nil else { return nil }
        course.ended = now
        course.late += late
        self.course = course
        return course.isFlapping ? nil : .ended(after: now - course.began, late: course.late)
    }

    /// Notes the time: a store that has worked for a minute has recovered.
    mutating func advance(to now: BootInstant) -> Transition? {
        guard let course, let ended = course.ended, ended + Self.recoveryTime <= now else { return nil }
        self.course = nil
        guard course.isFlapping else { return nil }
        return .recovered(after: ended - course.began, times: course.times, late: course.late)
    }
}

extension Outage.Transition {
    /// The line for the log. `cause` says what fails, why, and what can be done; it is ignored if the store works.
    func sentence(_ cause: String?, isOpen: Bool = true) -> String {
        switch self {
        case .began where !isOpen:
            """
            changes cannot be stored: \(cause ?? ""); until the store is open, no countdown is known, and calls are refused
            """
        case .began:
            """
            changes cannot be stored: \(cause ?? ""); until they can, changes are refused, and ends \
            are delivered and stored later
            """
        case .ended(let duration, let late):
            "changes can be stored again, after \(ApproximateDuration.text(duration.microseconds))\(Self.text(ofLate: late))"
        case .flapping:
            """
            changes cannot be stored again: \(cause ?? ""); the store is flapping, so nothing more is logged before it \
            has worked for a minute
            """
        case .recovered(let duration, let times, let late):
            """
            changes have been stored for a minute; before, storing failed \(times) times in \
            \(ApproximateDuration.text(duration.microseconds))\(Self.text(ofLate: late))
            """
        }
    }

    /// The level of the line.
    var level: Log.Level {
        switch self {
        case .began, .flapping: .error
        case .ended, .recovered: .notice
        }
    }

    private static func text(ofLate count: Int) -> String {
        count == 0 ? "" : "; \(count) \(count == 1 ? "end" : "ends") stored late"
    }
}
