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
    /// killed, the countdown ends by itself. If the daemon goes away meanwhile, it is asked again.
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
        let terms = CooldownHold.Terms(cooldown: duration.microseconds, origin: .end)
        let metadata = CooldownMark.metadata
        let start = Start(key: key, durationUSec: terms.hold, ifRunning: .fail, label: label, metadata: metadata)
        var hold = CooldownHold(terms, started: try await call(start).countdown, at: BootClock.now)
        return try await withThrowingTaskGroup(of: Result<Value, any Error>?.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                do { return .success(try await action()) } catch { return .failure(error) }
            }
            var result: Result<Value, any Error>?
            var next: CooldownHold.Action? = hold.beginning
            while true {
                switch next {
                case .call(let request):
                    next = await answer(request, to: &hold)
                    continue
                case .leave: if let result { return try result.get() }
                // A task that is cancelled would not sleep. The action ends soon, or the key does.
                case .wait(let instant) where !Task.isCancelled || result != nil:
                    group.addTask {
                        await Backoff.sleep(microseconds: instant - BootClock.now)
                        return nil
                    }
                case .wait, nil: break
                }
                if case .some(.some(let ended)) = try await group.next() {
                    result = ended
                    let isSuccess = if case .success = ended { true } else { false }
                    next = hold.exit(succeeded: isSuccess, at: BootClock.now)
                } else {
                    next = hold.wake(at: BootClock.now)
                }
            }
        }
    }

    /// Makes the call, and hands its answer over. In a task that was cancelled, another task makes it.
    private func answer(_ request: CountdownRequest, to hold: inout CooldownHold) async -> CooldownHold.Action {
        let isCancelled = Task.isCancelled
        let answer = isCancelled ? await Task { await result(of: request) }.value : await result(of: request)
        switch answer {
        case .success(let countdown): return hold.receive(countdown, at: BootClock.now)
        case .failure(.countdown(let error)):
            return hold.refuse(error, at: BootClock.now) ?? hold.fail(at: BootClock.now)
        case .failure: return hold.fail(at: BootClock.now)
        }
    }

    private func result(of request: CountdownRequest) async -> Result<Countdown, ClientError> {
        do throws(ClientError) {
            return .success(try await perform(request))
        } catch {
            return .failure(error)
        }
    }

    private func perform(_ request: CountdownRequest) async throws(ClientError) -> Countdown {
        switch request {
        case .get(let key): try await get(key)
        case .start(let start): try await call(start).countdown
        case .pause(let key): try await pause(key)
        case .resume(let key): try await resume(key)
        case .cancel(let key, let revision): try await cancel(key, ifRevision: revision)
        case .adjust(let key, let amount, let revision):
            try await adjust(key, by: .microseconds(amount), ifRevision: revision)
        }
    }
}
