/// Every limit and default of the service, each with its reason.
public struct Limits: Equatable, Sendable {
    // MARK: Countdowns

    /// The duration of a countdown that names none: the "get code, again in 60 s" button.
    public var defaultDuration = Duration.seconds(60)
    /// Longer than anybody waits, and with today's date still below 2^53 µs, which every JSON reader keeps exact.
    public var longestDuration = Duration.seconds(100 * 36_525 * 864)
    /// The last instant: 2^53 µs, the last whole number that every JSON reader keeps exact.
    public var latest = WallInstant(microseconds: 1 << 53 - 1)
    /// Live countdowns; about 100 bytes each with a short key and 400 with the longest, so that a runaway program fills less than
    /// two gigabytes.
    public var countdowns = 4_000_000
    /// Cooldowns that are started together: more limits than a service has for one call.
    public var cooldowns = 16
    /// In a fleet, which decides on each key by itself.
    public var cooldownsInFleet = 1
    /// A label is a line for people.
    public var labelBytes = 1_024
    /// Metadata should name the countdown's subject; documents belong elsewhere, under the same key.
    public var metadataPairs = 32
    /// The bytes of all names and values.
    public var metadataBytes = 4_096
    /// Labels and metadata of all running and paused countdowns, with the memory to keep them: 128 bytes for each of the
    /// `countdowns`.
    public var textBytesInAll = 512 * 1_024 * 1_024

    // MARK: Ends

    /// Ends that are kept for clients that come back: about one day of an end per second.
    public var history = 100_000
    /// After a week nobody asks for the end of a countdown.
    public var historyAge = Duration.seconds(7 * 86_400)
    /// Ends that stay although the history is full, because a watch that still reads the state has yet to deliver them; as many
    /// again of forgotten ones. Reading four million countdowns takes some ten seconds: this allows 5,000 ends a second.
    public var endsHeldForWatches = 50_000

    // MARK: Watching

    /// Each countdown of a list is matched against each pattern. Keys are looked up and need no such limit.
    public var patterns = 64
    /// The cost of the different patterns of all watches that are tried for each change, in scanned entries: a millisecond at worst
    /// for a change. A pattern with anything between two `*` costs 32, so there may be 512 of them; others cost 4, and 1 more for
    /// eight characters. Keys, and patterns such as `login/*`, are looked up and cost nothing here.
    public var matchStepsInAll = 16_384
    /// A pattern need not be longer than a key.
    public var patternBytes = 255
    /// A screen shows no more than a hundred ticks a second.
    public var shortestTick = Duration.milliseconds(10)
    /// Different tick intervals: each has an entry for every countdown that is followed at it. The programs of one machine use
    /// fewer; an interval that is in use already is never refused.
    public var tickIntervals = 64
    /// Entries of countdowns at all intervals together: enough for all `countdowns` at two intervals. A countdown beyond has no
    /// ticks.
    public var tickPlaces = 8_000_000
    /// A heartbeat shows that the connection is alive; it does not measure time.
    public var shortestHeartbeat = Duration.seconds(1)
    /// Up to this many keys are looked up one by one for a list or a snapshot; a selection with more keys takes a scan.
    public static let keysAtOnce = 256
    /// The memory of the keys and patterns of all watches and lists, and of lists in progress: 64 KiB for each of the
    /// `connections`; a single one, with as many keys as a call has room for, may take 22 megabytes.
    public var selectionBytesInAll = 256 * 1_024 * 1_024
    /// The soonest of a list are kept during its scan; a client that wants more of them wants the whole list.
    public var soonest = 1_000

    // MARK: Connections

    /// Connections whose calls are carried out; fewer if there are not enough descriptors.
    public var connections = 4_096
    /// Connections of one user other than the daemon's own and root, with `--access=socket`: a user who takes all of them leaves
    /// as many to each of three others.
    public var connectionsPerUser = 1_024
    /// Connections over the quota of a user that are answered with the reason; further ones are closed without an answer.
    public var refusalsPerUser = 16
    /// Open connections that are answered with the reason; further ones wait in the listen queue until one of them is closed, after a
    /// tenth of a second at the latest.
    public var refusals = 256
    /// The largest call: a `Watch` of a thousand long keys. Calls behind a call that is not answered yet are read up to as many
    /// bytes; beyond that, the client's socket is not read.
    public var messageBytes = 256 * 1_024
    /// The input buffers of all clients together; beyond it, the clients with the largest buffers are disconnected.
    public var receivedBytesInAll = 256 * 1_024 * 1_024
    /// A reply to `List` or `Watch` ends after so many bytes, so that a client shows something early.
    public var pageBytes = 64 * 1_024
    /// Unsent bytes of one client before it is disconnected; it comes back with `since`.
    public var unsentBytes = 4 * 1_024 * 1_024
    /// Unsent bytes of all clients together.
    public var unsentBytesInAll = 256 * 1_024 * 1_024

    // MARK: The log

    /// Lines of each kind that clients can cause in a time span; further ones are counted.
    public var logLines = 10
    /// The time span of `logLines`.
    public var logSpan = Duration.seconds(60)

    // MARK: The budgets of a turn: the rest follows in the next turn, which reads the clocks again

    /// A few milliseconds of work, so that no reply, end or tick is delayed for long. Each cooldown of a `StartAll` counts, and
    /// `GetStatus` as sixteen calls, because it takes as long.
    public var callsInTurn = 256
    /// Calls of one connection: a fair share if several clients send many.
    public var callsOfConnectionInTurn = 64
    /// Bytes of calls, after which no further call is carried out: to read a call and to keep its keys takes 50 ns a byte at worst. A
    /// stored text that a call changes or reports counts a quarter. A connection has a quarter of them.
    public var callBytesInTurn = 64 * 1_024
    /// Countdowns that end. 256 bytes of their texts count as another one.
    public var endsInTurn = 4_096
    /// Ticks, each for all of its watchers.
    public var ticksInTurn = 4_096
    /// Queued starts that are served: each takes as long as a call.
    public var servedStartsInTurn = 256
    /// The cost of trying patterns for events and ticks, counted as in `matchStepsInAll`, each 60 ns at worst: if watchers have
    /// more patterns, a turn has fewer calls, ends, ticks and records of a fleet.
    public var matchesInTurn = 131_072
    /// Entries scanned for `List` and `Watch`, with the patterns against which each is matched; or 512 bytes for each that are
    /// written of them.
    public var entriesInTurn = 4_096
    /// Ends compacted: a budget apart from the scans, which could use it up all the time; and more than a turn can end.
    public var compactionsInTurn = 8_192
    /// Records of a fleet that are taken in: each takes some 10 µs. A page of a snapshot takes some turns, and calls are answered
    /// in between.
    public var fleetEntriesInTurn = 64
    /// Keys of a fleet whose calls are decided.
    public var fleetKeysInTurn = 256
    /// Connections accepted; accepting and closing one takes some 10 µs.
    public var connectionsInTurn = 64
    /// Bytes read from one client: a fair share if many send much.
    public var readBytesInTurn = 64 * 1_024

    /// The defaults.
    public init() {}

    /// The limits that a client can reach, by their names in `LimitReached` and `GetStatus`.
    public var named: [String: Int] {
        [
            "countdowns": countdowns,
            "cooldownsInFleet": cooldownsInFleet,
            "labelBytes": labelBytes,
            "metadataPairs": metadataPairs,
            "metadataBytes": metadataBytes,
            "textBytesInAll": textBytesInAll,
            "keyBytes": Key.maximumBytes,
            "durationUSec": Int(longestDuration.microseconds),
            "history": history,
            "historyAgeUSec": Int(historyAge.microseconds),
            "endsHeldForWatches": endsHeldForWatches,
            "patterns": patterns,
            "patternBytes": patternBytes,
            "matchStepsInAll": matchStepsInAll,
            "shortestTickUSec": Int(shortestTick.microseconds),
            "tickIntervals": tickIntervals,
            "tickPlaces": tickPlaces,
            "shortestHeartbeatUSec": Int(shortestHeartbeat.microseconds),
            "selectionBytesInAll": selectionBytesInAll,
            "soonest": soonest,
            "connections": connections,
            "connectionsPerUser": connectionsPerUser,
            "messageBytes": messageBytes,
            "receivedBytesInAll": receivedBytesInAll,
            "pageBytes": pageBytes,
            "unsentBytes": unsentBytes,
            "unsentBytesInAll": unsentBytesInAll,
            "logLines": logLines,
            "logSpanUSec": Int(logSpan.microseconds),
        ]
    }
}
