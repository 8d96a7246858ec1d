import System

extension AsyncClient {
    /// The events of a watch. The sequence goes on if the daemon is restarted.
    public func events(_ watch: Watch = Watch()) -> Events {
        Events(path: path, watch: watch)
    }

    /// The events of a watch. Every iteration is a watch of its own.
    ///
    /// The first events report the current state, up to `synced`; later ones report changes and ticks. If the daemon
    /// goes away, the iteration waits until it is back and resumes after the newest revision: no end is missed and none is
    /// reported twice. `synced` then says that the daemon is back. If it goes away before `synced`, the first events are
    /// repeated.
    ///
    /// The iteration ends only if its task is cancelled. It throws, and cannot be used any more,
    /// - if there is no daemon in the beginning;
    /// - if the daemon refuses the watch, because a parameter is not valid or a limit is reached;
    /// - if the daemon does not keep the history after the newest revision (`historyTrimmed`), so that ends may have been
    ///   missed. Another iteration without `since` reports the current state, and `List` the ends that are
    ///   kept.
    ///
    /// Only the rest of one batch of replies is buffered. If the program does not ask for the next event, the daemon leaves
    /// out ticks; if 4 MiB were not read, the daemon closes the connection, and the iteration resumes as it does after a
    /// restart.
    public struct Events: AsyncSequence, Sendable {
        /// The elements are events.
        public typealias Element = Event
        /// The errors are those of a client.
        public typealias Failure = ClientError

        let path: String
        let watch: Watch

        /// Makes an iteration. The watch begins when its first event is asked for, and ends when the iterator is destroyed.
        public func makeAsyncIterator() -> Iterator {
            Iterator(path: path, watch: watch)
        }
    }
}

extension AsyncClient.Events {
    /// A watch and the connection that it has now.
    public struct Iterator: AsyncIteratorProtocol {
        private let path: String
        private let watch: Watch
        /// Nil before the first event is asked for and after the end.
        private var connection: WatchConnection?
        private var hasEnded = false
        /// Events that were received and not returned yet, the next one last.
        private var buffer: [Event] = []

        init(path: String, watch: Watch) {
            self.path = path
            self.watch = watch
        }

        /// Waits for the next event; nil if the task is cancelled or the iteration has ended before.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(ClientError) -> Event? {
            while !hasEnded, !Task.isCancelled {
                if let event = buffer.popLast() { return event }
                do {
                    try await receive()
                } catch {
                    end()
                    throw error
                }
            }
            end()
            return nil
        }

        private mutating func end() {
            hasEnded = true
            connection = nil
            buffer = []
        }

        /// Waits until the connection can advance, and buffers the events.
        private nonisolated(nonsending) mutating func receive() async throws(ClientError) {
            let connection = connection ?? begin()
            let occurrences = try connection.advance()
            for case .events(let events) in occurrences { buffer.insert(contentsOf: events.reversed(), at: 0) }
            guard occurrences.isEmpty else { return }
            if let deadline = connection.deadline {
                await Backoff.sleep(microseconds: deadline.remainingUSec)
            } else if let descriptor = connection.descriptor {
                let readiness: SocketReadiness = connection.isSending ? .writable : .readable
                await readiness.wait(of: descriptor)
            }
        }

        private mutating func begin() -> WatchConnection {
            var options = ResumableWatch.FailureOptions()
            options.trimmedHistory = .fail
            let connection = WatchConnection(ResumableWatch(watch, options: options), at: path)
            self.connection = connection
            return connection
        }
    }
}
