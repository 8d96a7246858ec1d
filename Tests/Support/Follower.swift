public import IPC

/// A client with a `Watch`, which returns the events one by one.
public final class Follower {
    /// The client of the watch.
    public let caller: Caller
    private var waiting: [Event] = []

    /// Watches without waiting.
    public init(on connection: RawConnection, _ watch: Watch = Watch()) throws {
        caller = Caller(on: connection)
        try caller.send(watch, more: true)
    }

    /// Watches without waiting.
    public convenience init(of daemon: some Reachable, _ watch: Watch = Watch()) throws {
        try self.init(on: daemon.connect(), watch)
    }

    /// The next event. A field that is missing or must be absent is an error; so is the end of the watch.
    public func next(until deadline: Deadline = Deadline()) throws -> Event {
        while waiting.isEmpty {
            let answer = try caller.answer(to: Watch.self, until: deadline)
            guard answer.continues else { throw Odd(event: "the last reply", fault: "a watch has no end") }
            waiting = answer.value.events.reversed()
        }
        let event = waiting.removeLast()
        try check(event)
        return event
    }

    /// The events up to the next one of a type, inclusive.
    @discardableResult
    public func events(
        through type: Event.Kind,
        of key: String? = nil,
        until deadline: Deadline = Deadline()
    ) throws -> [Event] {
        var events: [Event] = []
        while true {
            let event = try next(until: deadline)
            events.append(event)
            if event.type == type, key == nil || event.key == key { return events }
        }
    }

    private func check(_ event: Event) throws {
        let isAboutKey = event.type != .synced && event.type != .heartbeat
        let isAboutCountdown = isAboutKey && event.type != .tick
        let rules = [
            "key": (event.key != nil) == isAboutKey,
            "remainingUSec": (event.remainingUSec != nil) == isAboutKey && event.remainingUSec ?? 0 >= 0,
            "countdown": (event.countdown != nil) == isAboutCountdown,
            "countdown.key": event.countdown == nil || event.countdown?.key == event.key,
            "countdown.remainingUSec": event.countdown == nil || event.countdown?.remainingUSec == event.remainingUSec,
            "revision": (event.revision != nil) == isNumbered(event.type) || event.type == .adjusted,
            "countdown.revision": !isAboutCountdown || event.revision == nil
                || event.countdown?.revision == event.revision,
            "lateUSec": (event.lateUSec != nil) == (event.type == .finished) && event.lateUSec ?? 0 >= 0,
        ]
        if let broken = rules.first(where: { !$0.value }) { throw Odd(event: "\(event)", fault: broken.key) }
    }

    /// Whether an event of this type always has a revision; `adjusted` has none if the system clock was set.
    private func isNumbered(_ type: Event.Kind) -> Bool {
        type != .attached && type != .tick
    }

    /// An event that contradicts the comments of the definition.
    public struct Odd: Error, CustomStringConvertible {
        let event: String
        let fault: String

        /// The contradiction and the event.
        public var description: String { "\(fault): \(event)" }
    }
}

extension Reachable {
    /// A client on a new connection, whose watch has received `synced`; without ticks unless they are asked for.
    public func watch(_ watch: Watch = Watch(tick: .zero)) throws -> Follower {
        let follower = try Follower(of: self, watch)
        try follower.events(through: .synced)
        return follower
    }
}
