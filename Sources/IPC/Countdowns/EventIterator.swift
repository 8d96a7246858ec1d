import Varlink

extension Countdowns.Events {
    /// A watch and the connection that it has now.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Course {
            case beginning, goingOn, ended
        }

        private let path: String
        private var following: Following
        private var connection: TaskConnection?
        private var course = Course.beginning
        /// What was told by the last reply, the next event last.
        private var waiting: [Event] = []

        init(path: String, watch: Watch) {
            self.path = path
            following = Following(watch)
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
                _ = following.take(reply.events)
                waiting = reply.events.reversed()
                if !continues { lose() }
            } catch {
                self.connection = nil
                let isFresh = following.since == nil
                let loss = try following.recover(from: error)
                // A watch that asked for no history misses nothing if there is none: it begins again after a pause.
                guard isFresh || loss != .historyTrimmed else { throw error }
            }
        }

        private mutating func lose() {
            connection = nil
            _ = following.lose()
        }

        private nonisolated(nonsending) mutating func connect() async throws(ClientError) {
            await Reconnection.rest(microseconds: following.pauseBeforeAttempt())
            do {
                connection = try await TaskConnection.toDaemon(at: path)
                try await connection?.start(following.request, more: true)
                course = .goingOn
            } catch {
                guard course == .goingOn else { throw error }
                lose()
            }
        }
    }
}
