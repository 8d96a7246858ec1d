public import Varlink

extension AsyncClient {
    /// Starts a countdown, or finds it running, and follows it to its end.
    ///
    /// ```swift
    /// for try await step in countdowns.follow("login/138", for: .seconds(60)) { print(step.type, step.remaining ?? .zero) }
    /// ```
    ///
    /// The first step is `started` or `attached`. Then there is one for each tick and each change. The last one says how it ended:
    /// `finished`, `cancelled`, or `gone` if the daemon cannot say. If the daemon goes away, there is one `away`, and when it is
    /// back the current state: no end is missed, none is reported twice, and the countdown is not started again. If the answer to
    /// the start is lost, the watch, which was there before it, says whether it was made: the name `run` in the metadata has a
    /// random token. A store that cannot be written or is not open yet is waited for, and so is room for a connection: the reason of
    /// `away` is the error. A daemon that is not there in the beginning is an error.
    ///
    /// Without a duration and a deadline nothing is started: the key must be running or paused, and the parameters of the start
    /// have no meaning. If the task is cancelled, or the loop is left, the watch is closed, and the countdown stays.
    ///
    /// `tick` is the time between ticks: zero for none, nil for 1 s. With `missingOK`, the sequence ends at once if nothing is to
    /// be started and the key is neither running nor paused; otherwise it throws ``CountdownError/noSuchCountdown(key:)``. The
    /// other parameters are those of ``start(_:for:until:ifRunning:label:metadata:forget:upTo:maxDuration:queueUpTo:)``.
    public func follow(
        _ key: String,
        for duration: Duration? = nil,
        until deadline: Countdown.Instant? = nil,
        ifRunning: IfRunning? = nil,
        label: String? = nil,
        metadata: TextMap<String>? = nil,
        forget: Bool? = nil,
        upTo: Duration? = nil,
        maxDuration: Duration? = nil,
        queueUpTo: Int64? = nil,
        tick: Duration? = nil,
        missingOK: Bool = false
    ) -> Steps {
        let start = Start(key, duration, deadline, ifRunning, label, metadata, forget, upTo, maxDuration, queueUpTo)
        return Steps(path: path, start: start, tick: tick?.microseconds, missingOK: missingOK)
    }

    /// The steps of a countdown. Every iteration follows it anew.
    public struct Steps: AsyncSequence, Sendable {
        /// The errors are those of a client.
        public typealias Failure = ClientError

        private let path: String
        private let start: Start
        private let tick: Int64?
        private let missingOK: Bool

        /// Without a length in the call, nothing is started.
        package init(path: String, start: Start, tick: Int64?, missingOK: Bool) {
            (self.path, self.start, self.tick, self.missingOK) = (path, start, tick, missingOK)
        }

        /// Makes an iteration, which begins when its first step is asked for.
        public func makeAsyncIterator() -> Iterator {
            Iterator(following: Following(start, tick: tick, missingOK: missingOK, at: path))
        }

        /// An iteration with its connections.
        public struct Iterator: AsyncIteratorProtocol {
            /// Nil after the task was cancelled.
            var following: Following?

            /// Waits for the next step; nil after the last one, or if the task is cancelled.
            public mutating func next(
                isolation actor: isolated (any Actor)? = #isolation
            ) async throws(ClientError) -> FollowStep? {
                while let following, !Task.isCancelled {
                    if let step = try following.advance() { return step }
                    if following.hasEnded { return nil }
                    await SocketReadiness.wait(of: following.descriptor, following.isSending, until: following.deadline)
                }
                following = nil
                return nil
            }
        }
    }
}
