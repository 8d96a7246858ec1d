import System
import Varlink

extension AsyncClient {
    /// Holds a key while an action runs, so that of all programs with the key one acts, and then lets the key count: the order of
    /// acts of a button, and of `countdownctl run --from end`.
    ///
    /// ```swift
    /// try await countdowns.holding("login/138", for: .seconds(60)) { try await sendCode() }
    /// ```
    ///
    /// The countdown is started before the action, for the duration, but at least for 30 s, and prolonged as long as the action
    /// runs. If the action succeeds, the duration remains from then on. If it throws, the key is given back. If this program is
    /// killed, the countdown ends by itself. If the daemon goes away meanwhile, it is asked again. If it goes away before
    /// it has answered the start, the start is made again for about a second and a half; a random token, under the name `run` in the
    /// metadata, shows whether it had been made.
    ///
    /// - Parameters:
    ///   - key: 1 to 255 bytes without control characters.
    ///   - duration: how long the key counts after the action.
    ///   - label: a text for people.
    ///   - action: runs if the key is neither running nor paused.
    /// - Returns: the result of the action.
    /// - Throws: the error of the action, or a ``ClientError`` if it was not run: ``CountdownError/alreadyRunning(_:retryAfter:)``
    ///   if the key is running or paused.
    @discardableResult
    public func holding<Value: Sendable>(
        _ key: String,
        for duration: Duration,
        label: String? = nil,
        _ action: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let metadata = CooldownMark.metadata
        var held = HeldAct(Start(key: key, durationUSec: duration.microseconds, label: label, metadata: metadata))
        return try await withThrowingTaskGroup(of: Result<Value, any Error>?.self) { group in
            defer { group.cancelAll() }
            var steps = held.beginning
            var result: Result<Value, any Error>?
            while try await !carryOut(steps, of: &held, in: &group, hasEnded: result != nil, action) {
                switch try await group.next() {
                case .some(.some(let ended)):
                    result = ended
                    let isSuccess = if case .success = ended { true } else { false }
                    steps = held.end(succeeded: isSuccess, at: BootClock.now)
                case .some(nil): steps = held.wake(at: BootClock.now)
                // It was cancelled while it waited to start again.
                case nil: throw ClientError.cancelled
                }
            }
            guard let result else { throw ClientError.cancelled }
            return try result.get()
        }
    }

    /// Carries out steps, until the group has a result; true after the last one.
    private func carryOut<Value: Sendable>(
        _ first: [HeldAct.Step],
        of held: inout HeldAct,
        in group: inout ThrowingTaskGroup<Result<Value, any Error>?, any Error>,
        hasEnded: Bool,
        _ action: @escaping @Sendable () async throws -> Value
    ) async throws(ClientError) -> Bool {
        var steps = first
        while !steps.isEmpty {
            switch steps.removeFirst() {
            case .call(let request): steps += held.answer(await result(of: request), at: BootClock.now)
            case .act:
                group.addTask {
                    do { return .success(try await action()) } catch { return .failure(error) }
                }
            // A task that is cancelled would not sleep. The action ends soon, or the key does.
            case .wake(let instant?) where !Task.isCancelled || hasEnded:
                group.addTask {
                    await Backoff.sleep(microseconds: instant - BootClock.now)
                    return nil
                }
            case .wake: break
            case .refused(let error): throw error
            case .done: return true
            }
        }
        return false
    }

    /// Makes a call. In a task that was cancelled, another task makes it, unless it is a start.
    func result(of request: CountdownRequest) async -> Result<Countdown, ClientError> {
        func made() async -> Result<Countdown, ClientError> {
            do throws(ClientError) { return .success(try await perform(request)) } catch { return .failure(error) }
        }
        if case .start = request { return await made() }
        return Task.isCancelled ? await Task { await made() }.value : await made()
    }

    private func perform(_ request: CountdownRequest) async throws(ClientError) -> Countdown {
        func made<M: CountdownMethod>(_ method: M) async throws(ClientError) -> Countdown {
            M.countdown(of: try await call(method))
        }
        return try await made(request.method)
    }
}
