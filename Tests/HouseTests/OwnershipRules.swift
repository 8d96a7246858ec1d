/// One actor owns all state: nothing gives way in the midst of a turn, and nothing is shared by a lock or a promise.
enum OwnershipRules {
    static func suspensions(in file: SourceFile, actors: Set<String>) -> [Violation] {
        file.belongs(to: actors) ? file.violations(naming: ["await"]) : []
    }

    static func locks(in file: SourceFile) -> [Violation] {
        file.violations(naming: [
            "Mutex", "NSLock", "NSRecursiveLock", "NSCondition", "pthread_mutex_t", "pthread_mutex_lock",
            "pthread_rwlock_t", "pthread_spin_lock", "pthread_cond_t", "DispatchSemaphore", "sem_wait",
        ])
    }

    /// The one file that shares a number with another thread: how far a copy in the background has come.
    static let atomics = "Checkpointer.swift"

    static func sharedNumbers(in file: SourceFile) -> [Violation] {
        file.name == atomics ? [] : file.violations(naming: ["Atomic"])
    }

    static func promises(in file: SourceFile) -> [Violation] {
        file.violations(naming: ["@unchecked", "nonisolated(unsafe)", "@preconcurrency"])
    }
}
