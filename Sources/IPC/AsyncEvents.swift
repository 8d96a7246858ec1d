import System

extension AsyncClient {
    /// The events of a watch. The sequence never ends by itself, and goes on if the daemon is restarted.
    public func events(_ watch: Watch = Watch()) -> Events {
        Events(path: path, watch: watch)
    }

    /// The events of a watch. Every iteration is a watch of its own.
    ///
    /// The first events report the current state, up to `synced`; later ones report changes and ticks.
    ///
    /// If the daemon goes away, there is one ``Element/disconnected(_:)``. The iteration waits until the daemon is back and
    /// resumes after the newest revision: no end is missed and none is reported twice. `synced` then says that the daemon is
    /// back. If the daemon goes away before `synced`, the first events are repeated. If the daemon does not run at
    /// first, the iteration waits for it in the same way. Before `synced`, ``Element/forgotten(key:)`` names each countdown that
    /// ended meanwhile and of which the daemon knows nothing any more, so every countdown that was reported gets its end.
    ///
    /// If the daemon does not keep the history after the newest revision, there is one
    /// ``Element/historyTrimmed(oldestRevision:)``, and then the current state as in the beginning: ends may have been
    /// missed, and `List` has those that are kept.
    ///
    /// A program that acts on events alone leaves the other elements out:
    /// `for try await case .event(let event) in countdowns.events()`.
    ///
    /// The iteration ends only if its task is cancelled. It throws, and cannot be used any more, if the daemon refuses the
    /// watch because a parameter is not valid, if this user may not use the socket, or if a reply is not the daemon's.
    ///
    /// Only the rest of one batch of replies is buffered. If the program does not ask for the next event, the daemon leaves
    /// out ticks; if 4 MiB were not read, the daemon closes the connection, and the iteration resumes as it does after a
    /// restart.
    public struct Events: AsyncSequence, Sendable {
        /// What a watch reports.
        public enum Element: Sendable, Equatable {
            /// An event from the daemon.
            case event(Event)
            /// The daemon is away; the watch tries again by itself, and `synced` says that the daemon is back.
            case disconnected(ClientError)
            /// The daemon has lost the history since the last event, so that ends may have been missed. The current state
            /// follows.
            case historyTrimmed(oldestRevision: Int64)
            /// A countdown that was reported as running or paused ended while the watch was away. How it ended is not reported.
            case forgotten(key: String)
        }

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
        /// The watch as far as its events were returned.
        private var returned: ResumableWatch
        /// Nil before the first event is asked for and after the end.
        private var connection: WatchConnection?
        private var hasEnded = false
        /// Elements that were received and not returned yet, the next one last.
        private var buffer: [Element] = []

        init(path: String, watch: Watch) {
            self.path = path
            var options = ResumableWatch.FailureOptions()
            options.waitsForDaemon = true
            returned = ResumableWatch(watch, options: options)
        }

        /// The revision up to which everything was returned; nil before the first `synced`. Another watch can begin with it.
        public var since: Int64? { returned.since }

        /// Waits for the next element; nil if the task is cancelled or the iteration has ended before.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(ClientError) -> Element? {
            while !hasEnded, !Task.isCancelled {
                do {
                    if let element = buffer.popLast() {
                        try note(element)
                        return element
                    }
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

        private mutating func note(_ element: Element) throws(ClientError) {
            switch element {
            case .event(let event): _ = returned.receive([event])
            case .disconnected, .forgotten: break
            case .historyTrimmed(let oldest): _ = try returned.fail(.countdown(.historyTrimmed(oldestRevision: oldest)))
            }
        }

        /// Waits until the connection can advance, and buffers the elements.
        private nonisolated(nonsending) mutating func receive() async throws(ClientError) {
            let connection = connection ?? WatchConnection(returned, at: path)
            self.connection = connection
            let occurrences = try connection.advance()
            buffer = occurrences.flatMap(Self.elements).reversed()
            guard occurrences.isEmpty else { return }
            await SocketReadiness.wait(of: connection.descriptor, connection.isSending, until: connection.deadline)
        }

        private static func elements(of event: WatchEvent) -> [Element] {
            switch event {
            case .events(let events): events.map(Element.event)
            case .lost(let error): [.disconnected(error)]
            case .historyTrimmed(let oldest): [.historyTrimmed(oldestRevision: oldest)]
            case .forgotten(let keys): keys.map(Element.forgotten)
            case .started, .stillLost, .recovered, .current: []
            }
        }
    }
}
