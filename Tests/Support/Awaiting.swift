import Dispatch
public import IPC

/// Runs an async closure on a thread of its own and waits for its end, because tests that block hold the threads that
/// tasks use otherwise. Tasks of a group that the closure makes run on that thread too, one at a time.
public func awaiting(until deadline: Deadline = Deadline(), _ body: @escaping () async throws -> Void) throws {
    // Only the closure uses its captures, because the caller waits for it.
    nonisolated(unsafe) let body = body
    nonisolated(unsafe) var failure: (any Error)?
    let ended = DispatchSemaphore(value: 0)
    Task(executorPreference: OwnThread()) {
        do {
            try await body()
        } catch {
            failure = error
        }
        ended.signal()
    }
    guard ended.wait(timeout: .now() + .milliseconds(Int(deadline.milliseconds))) == .success else {
        throw TimedOut(waitingFor: "the end of a task")
    }
    if let failure { throw failure }
}

/// The result of a task that is cancelled as soon as the condition holds.
public func result<Value: Sendable>(
    of body: @escaping @Sendable () async throws -> Value,
    cancelledAfter condition: () async throws -> Void
) async throws -> Result<Value, any Error>? {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        try await condition()
        group.cancelAll()
        return await group.nextResult()
    }
}

private final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "test")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension AsyncClient {
    /// Waits until the daemon's status satisfies the condition; the connection of GetStatus counts as well.
    public func awaitStatus(_ isAwaited: (GetStatus.Reply) -> Bool) async throws {
        while try await !isAwaited(call(GetStatus())) {}
    }
}
