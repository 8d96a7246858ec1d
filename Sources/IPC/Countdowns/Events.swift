extension Countdowns {
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
