import Varlink

extension AsyncClient {
    /// What a watch tells, from one daemon after another where the first one goes away.
    public func events(_ watch: Watch = Watch()) -> Events {
        Events(path: path, watch: watch)
    }

    /// The events of a watch. Each iteration is a watch of its own.
    ///
    /// The first events tell what there is, up to `synced`; later ones what changes, and ticks. Where the daemon goes away
    /// the iteration waits until it is back and goes on after the newest revision that was told: no ending is missed, and
    /// none told twice. `synced` then tells that it is back.
    ///
    /// The iteration ends where its task is cancelled, and then alone. It throws, and is of no more use,
    /// - where there is no daemon in the beginning;
    /// - where the daemon refuses the watch: what is asked for is not valid, or no more watchers are taken;
    /// - where the daemon keeps no history from there on (`historyTrimmed`), so that endings may have been missed: another
    ///   iteration without `since` tells what there is now, `List` the endings that are kept.
    ///
    /// Nothing is read ahead but the rest of one reply. While nobody asks for the next event the daemon leaves out ticks; at
    /// 4 MiB that were not read it ends the connection, and the iteration then comes back as it does to a daemon that
    /// went away.
    public struct Events: AsyncSequence, Sendable {
        public typealias Element = Event
        public typealias Failure = ClientError

        let path: String
        let watch: Watch

        /// Begins a watch with the first event that is asked for, and ends it when it goes out of use.
        public func makeAsyncIterator() -> Iterator {
            Iterator(path: path, watch: watch)
        }
    }
}

extension AsyncClient.Events {
    /// A watch and the connection that it has now.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Course {
            case beginning, goingOn, ended
        }

        private let path: String
        private var watch: ResumableWatch
        private var connection: AsyncConnection?
        private var course = Course.beginning
        /// What was told by the last reply, the next event last.
        private var waiting: [Event] = []

        init(path: String, watch: Watch) {
            self.path = path
            self.watch = ResumableWatch(watch)
        }

        /// Waits for the next event; nil where the task was cancelled, or the iteration has ended before.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(ClientError) -> Event? {
            while course != .ended, !Task.isCancelled {
                if let event = waiting.popLast() { return event }
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
            course = .ended
            connection = nil
            waiting = []
        }

        /// Takes one reply, or one step towards the next connection.
        private nonisolated(nonsending) mutating func receive() async throws(ClientError) {
            guard let connection else { return try await connect() }
            do {
                guard let (reply, continues) = try await connection.nextReply(to: Watch.self) else { return }
                _ = watch.take(reply.events)
                waiting = reply.events.reversed()
                if !continues { lose() }
            } catch {
                self.connection = nil
                let isFresh = watch.since == nil
                let loss = try watch.recover(from: error)
                // A watch that asked for no history misses nothing if there is none: it begins again after a pause.
                guard isFresh || loss != .historyTrimmed else { throw error }
            }
        }

        private mutating func lose() {
            connection = nil
            _ = watch.lose()
        }

        private nonisolated(nonsending) mutating func connect() async throws(ClientError) {
            await Backoff.sleep(microseconds: watch.pauseBeforeAttempt())
            do {
                connection = try await AsyncConnection.toDaemon(at: path)
                try await connection?.start(watch.request, more: true)
                course = .goingOn
            } catch {
                guard course == .goingOn else { throw error }
                lose()
            }
        }
    }
}
