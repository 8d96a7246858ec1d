/// Every limit and default of the service, each with its reason.
public struct Policy: Sendable {
    // MARK: Countdowns

    /// The length of a countdown that names none: the "get code, again in 60 s" button.
    public var defaultLength = TimeSpan.seconds(60)
    /// Far beyond what anybody waits for, and with today's date still below 2^53 µs, which every JSON reader keeps exact.
    public var longest = TimeSpan.seconds(100 * 36_525 * 864)
    /// No instant beyond this is kept: 2^53 µs, the last whole number that every JSON reader keeps exact.
    public var latest = WallInstant(microseconds: 1 << 53 - 1)
    /// Live countdowns; some 100 bytes each with short keys and 400 with the longest, so that a runaway program fills less
    /// than two gigabytes.
    public var countdowns = 4_000_000
    /// A label is a line for a person.
    public var labelBytes = 1_024
    /// Metadata names what the countdown is about; a document belongs elsewhere, under the key.
    public var metadataPairs = 32
    public var metadataBytes = 4_096
    /// Labels and metadata of all that run or are paused, with what it takes to keep them: 128 bytes for each of the
    /// countdowns that there can be.
    public var textBytesInAll = 512 * 1_024 * 1_024

    // MARK: Endings

    /// Endings that are kept for who comes back: a day of one ending a second.
    public var history = 100_000
    /// Nobody comes back to a countdown that ended longer ago.
    public var historyAge = TimeSpan.seconds(7 * 86_400)

    /// Ends that stay although the history is full, because a watch that is still reading the state has yet to deliver them;
    /// as many again of forgotten ones. To read four million countdowns takes some ten seconds: 5,000 ends in each of them.
    public var endsHeldForWatches = 50_000

    // MARK: Watching

    /// Each event is matched against each pattern of each watcher; exact keys are found at once and have no limit here.
    public var patterns = 64
    /// A pattern needs no more room than the key that it matches.
    public var patternBytes = 255
    /// A hundred ticks a second are as many as a screen can show.
    public var shortestTick = TimeSpan.milliseconds(10)
    /// Intervals at which anybody wants ticks: each has a place for every countdown that is followed at it. More than the
    /// programs of a machine differ in; who asks for one that there is already is never refused.
    public var tickIntervals = 64
    /// Places of countdowns at all these intervals together: for two intervals of as many countdowns as there can be. A
    /// countdown that finds none has no ticks.
    public var tickPlaces = 8_000_000
    /// A heartbeat keeps a connection known to be alive, it does not measure time.
    public var shortestHeartbeat = TimeSpan.seconds(1)
    /// As many keys are looked up one by one; who names more is served by a walk through all, and asked of each event.
    public static let keysAtOnce = 256
    /// What it takes to keep the keys and patterns of all watches and lists, and the soonest of lists: 64 KiB for each of
    /// the connections that there can be, where one alone can ask for as much as two megabytes.
    public var selectionBytesInAll = 256 * 1_024 * 1_024
    /// The soonest of a list are kept while it is walked; who wants more of them wants the list.
    public var soonest = 1_000

    // MARK: Connections

    /// Half of what `LimitNOFILE=` of the unit gives, in round numbers; what is over it waits in the listen queue.
    public var connections = 4_096
    /// Of one user who is neither the daemon's own nor root, with `--access=socket`: who takes all of them leaves as many
    /// to each of three others.
    public var connectionsPerUser = 1_024
    /// So many more of a user are told why they are not served; what is over these too is closed without a word.
    public var refusalsPerUser = 16
    /// The largest call: one `Watch` of a thousand long keys. Calls that wait behind one that is not answered yet are read
    /// up to as many bytes; past it, the peer's socket is left unread.
    public var messageBytes = 256 * 1_024
    /// The buffers of all peers together that hold what was received and is not carried out yet; those who fill the
    /// largest are disconnected.
    public var receivedBytesInAll = 256 * 1_024 * 1_024
    /// A reply of `List` or `Watch` is closed once it is this long, so that a client shows something early.
    public var pageBytes = 64 * 1_024
    /// What a peer that does not read may have waiting for it before it is disconnected: it comes back with `since`.
    public var unsentBytes = 4 * 1_024 * 1_024
    /// The same for all peers together.
    public var unsentBytesInAll = 256 * 1_024 * 1_024

    // MARK: The log

    /// Lines that peers can bring about, of each kind in a span: they show what is going on, and the rest is counted.
    public var logLines = 10
    public var logSpan = TimeSpan.seconds(60)

    // MARK: A turn: what comes over these portions follows in the next turn, which reads the clocks again

    /// A few milliseconds of work, so that nobody waits long for an answer, an ending or a tick.
    public var callsInTurn = 256
    public var callsOfPeerInTurn = 64
    public var endingsInTurn = 4_096
    public var ticksInTurn = 4_096
    /// Keys matched against patterns as calls, endings and ticks are told: where watchers have more patterns than this
    /// allows for, a turn has fewer of each. One with a `*` that something stands behind counts as 32: it takes 2 µs at the
    /// worst, others as good as nothing.
    public var matchesInTurn = 524_288
    /// Entries walked for `List` and `Watch`; the patterns that each is matched against count too.
    public var entriesInTurn = 4_096
    /// Endings let go of: apart from the walks, as they would grow where somebody walks all the time; and more than a
    /// turn can end.
    public var trimmingsInTurn = 8_192
    /// Connections taken in; to take one in and to close it takes some 10 µs.
    public var connectionsInTurn = 64
    /// Bytes read from a peer: a fair share where many send much.
    public var readBytesInTurn = 64 * 1_024

    public init() {}

    /// The limits that a caller can meet, by the names that `LimitReached` and `GetStatus` use.
    public var limits: [String: Int] {
        [
            "countdowns": countdowns,
            "labelBytes": labelBytes,
            "metadataPairs": metadataPairs,
            "metadataBytes": metadataBytes,
            "textBytesInAll": textBytesInAll,
            "keyBytes": Key.maximumBytes,
            "durationUSec": Int(longest.microseconds),
            "history": history,
            "historyAgeUSec": Int(historyAge.microseconds),
            "endsHeldForWatches": endsHeldForWatches,
            "patterns": patterns,
            "patternBytes": patternBytes,
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

/// What the daemon takes of memory at the most: every limit reached at once, by everybody.
///
/// The figures are those of the structures that hold things, rounded up, with what an array or a table has in reserve.
extension Policy {
    /// Bytes, of all that there can be.
    public var memoryCeiling: Int {
        processBytes + countdownsCeiling + endingsCeiling + ticksCeiling + connections * connectionCeiling
            + receivedCeiling + selectionBytesInAll + 4 * unsentBytesInAll
    }

    /// The program itself and the store's pages.
    private var processBytes: Int { 32 * 1_024 * 1_024 }

    /// A countdown with the longest key, without texts: its entry, extra, deadline and place in the index.
    private var countdownBytes: Int { 448 }

    /// Running and paused countdowns, with their labels and metadata.
    public var countdownsCeiling: Int { countdowns * countdownBytes + 2 * textBytesInAll }

    /// Ends with the longest label and metadata: the history, and the ends that are held for watches.
    public var endingsCeiling: Int {
        (history + 2 * endsHeldForWatches) * (countdownBytes + labelBytes + metadataBytes + 160 * metadataPairs)
    }

    /// The places on the wheels.
    public var ticksCeiling: Int { tickPlaces * 128 }

    /// What one connection holds besides what is counted in all: its state, and pages.
    public var connectionCeiling: Int { 4 * pageBytes + 8 * 1_024 }

    /// What was received, and what one peer adds before those who hold the most are disconnected.
    public var receivedCeiling: Int { receivedBytesInAll + 2 * (messageBytes + readBytesInTurn) }
}
