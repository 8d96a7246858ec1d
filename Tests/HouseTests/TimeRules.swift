/// Time is an argument: one file reads clocks, for the actor alone, and one file makes a timer.
enum TimeRules {
    /// The targets that are told what time it is; a client may look for itself.
    static let targets: Set<String> = ["CountdownCore", "Varlink", "countdownd"]
    static let clocks = "Clocks.swift"
    static let alarm = "Alarm.swift"

    static func readings(in file: SourceFile) -> [Violation] {
        guard targets.contains(file.target), file.name != clocks else { return [] }
        return file.violations(naming: [
            "clock_gettime", "gettimeofday", "timespec_get", "time(nil)", "CLOCK_REALTIME", "CLOCK_BOOTTIME",
            "CLOCK_MONOTONIC", "ContinuousClock", "SuspendingClock", "DispatchTime.now", "DispatchWallTime.now",
            ".now()", "Date()",
        ])
    }

    static func timers(in file: SourceFile) -> [Violation] {
        guard targets.contains(file.target), file.name != alarm else { return [] }
        return file.violations(naming: [
            "makeTimerSource", "asyncAfter", "Task.sleep", "timerfd_create", "timer_create", "setitimer", "sleep",
            "usleep", "nanosleep", "clock_nanosleep",
        ])
    }

    /// Who reads the clocks without being the actor.
    static func callers(in file: SourceFile, actors: Set<String>) -> [Violation] {
        guard targets.contains(file.target), file.name != clocks, !file.belongs(to: actors) else { return [] }
        return file.violations(naming: ["Clocks", "clocks"])
    }
}

extension SourceFile {
    /// The actors that the file declares.
    var actors: Set<String> {
        Set(code.compactMap { $0.name(after: "actor") })
    }

    /// Whether the file declares one of the actors or extends it.
    func belongs(to actors: Set<String>) -> Bool {
        code.contains { line in
            [line.name(after: "actor"), line.name(after: "extension")].contains { $0.map(actors.contains) ?? false }
        }
    }
}

extension Substring {
    /// The name that a declaration gives or extends, where the line holds that keyword.
    fileprivate func name(after keyword: Substring) -> String? {
        let words = words
        guard let place = words.firstIndex(of: keyword), place + 1 < words.count else { return nil }
        let name = words[place + 1].prefix(while: \.isName)
        return name.isEmpty ? nil : String(name)
    }
}
