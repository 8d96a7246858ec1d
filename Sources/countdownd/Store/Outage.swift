import CountdownCore

/// What is to be said of a store that fails: once that it does, and once that it works again.
///
/// A disk that fails now and then would say both without an end. So what fails again within a minute is said once to come
/// and go, and after that nothing is said before a minute has passed without a failure.
struct Outage {
    /// What is worth a line in the log.
    enum News: Equatable {
        case began
        /// It works again after that time, and so many endings were stored late.
        case ended(after: Duration, late: Int)
        /// It fails again so soon that no more is said of each time.
        case comesAndGoes
        /// It has worked for a minute, after it failed so many times in that time.
        case settled(after: Duration, times: Int, late: Int)
    }

    /// So long it has to work before a failure is another one.
    static let calm = Duration.seconds(60)

    private struct Course {
        let began: BootInstant
        var times = 1
        var late = 0
        /// When it began to work again, nil while it fails.
        var ended: BootInstant?
        var comesAndGoes = false
    }

    private var course: Course?

    /// When there is something to say though nothing happens.
    var next: BootInstant? {
        guard let course, course.comesAndGoes else { return nil }
        return course.ended.map { $0 + Self.calm }
    }

    /// Takes note that something could not be stored.
    mutating func fail(at now: BootInstant) -> News? {
        guard let course else {
            self.course = Course(began: now)
            return .began
        }
        guard course.ended != nil else { return nil }
        self.course = Course(began: course.began, times: course.times + 1, late: course.late, comesAndGoes: true)
        return course.comesAndGoes ? nil : .comesAndGoes
    }

    /// Takes note that all could be stored, so many endings among it that were told before.
    mutating func recover(at now: BootInstant, late: Int) -> News? {
        guard var course, course.ended == nil else { return nil }
        course.ended = now
        course.late += late
        self.course = course
        return course.comesAndGoes ? nil : .ended(after: now - course.began, late: course.late)
    }

    /// Takes note of the time: what has worked for a minute is over.
    mutating func pass(to now: BootInstant) -> News? {
        guard let course, let ended = course.ended, ended + Self.calm <= now else { return nil }
        self.course = nil
        guard course.comesAndGoes else { return nil }
        return .settled(after: ended - course.began, times: course.times, late: course.late)
    }
}
