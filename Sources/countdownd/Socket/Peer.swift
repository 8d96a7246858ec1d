import CountdownCore
import Glibc
import Varlink

/// A client's connection: its socket, its session, and the call that it is waiting for.
final class Peer {
    /// What a call that is not answered at once is about.
    enum Activity {
        case none
        /// For the ending of the countdown under a key that comes after this revision.
        case waiting(Key, after: Revision)
        case listing(Listing)
        case watching(Watching)
    }

    enum Repeatable {
        case none
        case get
        case start(Request.Start)
    }

    enum Condition: Equatable {
        case open
        /// To be closed once what was answered has been written.
        case closing
        /// Nobody is there any more.
        case gone
    }

    let token: UInt64
    let user: uid_t
    /// Whether it is there to be told that its user has too many connections, and to be closed then.
    let isExcess: Bool
    /// What its session holds, as it was used last.
    private(set) var levels = Levels()
    /// What the last call that the session told asked for, where it may be asked for once more with another key.
    var repeatable = Repeatable.none
    var activity = Activity.none
    var condition = Condition.open
    /// When it was last told anything that it watches.
    var lastTold = BootInstant(microseconds: 0)
    /// Whether the socket took less than there was: nothing that can be left out is added until it has taken the rest.
    private(set) var isBlocked = false
    /// Whether nothing more will come from it, though it may still read.
    private(set) var inputHasEnded = false
    /// Whether its calls, or what it is being told, rest until it has read what was written for it.
    var isHeldBack = false
    /// The directions that the poller tells of.
    var isReading = true
    var isWriting = false
    /// Whether it stands in one of the daemon's queues.
    var isUnanswered = false
    var isWalking = false
    var isTouched = false
    /// The unsent bytes that it was last counted with.
    var countedUnsent = 0
    /// The memory for what was received that it was last counted with.
    var countedReceived = 0
    /// What its watch or list takes to be kept.
    var countedSelection = 0

    private let socket: Descriptor
    private var kept: ServerSession

    var descriptor: Int32 { socket.number }
    var watcher: WatcherID { WatcherID(Int(truncatingIfNeeded: token)) }

    init(
        socket: consuming Descriptor,
        token: UInt64,
        of user: uid_t,
        isExcess: Bool = false,
        session: ServerSession
    ) {
        self.socket = socket
        self.token = token
        self.user = user
        self.isExcess = isExcess
        kept = session
    }

    var session: ServerSession {
        _read { yield kept }
        _modify {
            defer { levels = Levels(of: kept) }
            yield &kept
        }
    }

    /// Uses the session, with one access to it in all.
    @inline(__always)
    func use<Result>(_ body: (inout ServerSession) -> Result) -> Result {
        defer { levels = Levels(of: kept) }
        return body(&kept)
    }

    /// Whether a call of its is not answered yet; the next ones wait behind it.
    var isBusy: Bool {
        if case .none = activity { return false }
        return true
    }

    /// Whether more may be read: what is not carried out yet stays below the size of the largest call.
    func wantsInput(_ policy: Policy) -> Bool {
        condition == .open && !inputHasEnded && levels.pendingInput <= policy.messageBytes
    }

    /// Reads what is there, a portion at most.
    func receive(into buffer: inout [UInt8]) {
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket.number, $0.baseAddress, $0.count, 0) }
        switch count {
        case 1...: use { $0.receive(buffer.span.extracting(0..<count)) }
        case 0: inputHasEnded = true
        default: if errno != EAGAIN && errno != EINTR { condition = .gone }
        }
    }

    /// Writes what the socket takes, and keeps the memory that held it where more is about to be written for it.
    func send(goingOn: Bool = false) {
        isBlocked = false
        while levels.unsent > 0, !isBlocked, condition != .gone {
            use { session in session.withUnsent(keepingCapacity: goingOn) { write($0) } }
        }
    }

    /// - Returns: how many of the bytes the socket took.
    private func write(_ unsent: Span<UInt8>) -> Int {
        let count = unsafe unsent.withUnsafeBytes { bytes in
            unsafe Glibc.send(socket.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
        if count < 0 {
            if errno == EAGAIN { isBlocked = true } else if errno != EINTR { condition = .gone }
        }
        return max(0, count)
    }

    /// Closes the reply that is being filled, where one is.
    func endArray() {
        if levels.openArrayBytes > 0 { session.endArray() }
    }

    /// Gives it up with all that was written for it.
    func abandon() {
        condition = .gone
        session.dropUnsent()
    }

    /// Puts events, with commas between them, into a reply to this watcher; one that is full is closed.
    ///
    /// - Returns: whether one was.
    func tell(_ round: JSONWriter, at now: Now, pageBytes: Int) -> Bool {
        lastTold = now.boot
        let isFull = levels.openArrayBytes + round.count > pageBytes
        if isFull { endArray() }
        session.appendElements("events", round)
        return isFull
    }
}

extension Peer {
    /// What a session holds, in numbers.
    ///
    /// They are looked at many times in a turn. A session is changed by what it is handed, so that each look at it is an
    /// access that is checked against others, which takes 110 instructions; a look at these is a load.
    struct Levels {
        /// Bytes that were received and are no part of a call yet.
        private(set) var pendingInput = 0
        /// The memory for what was received.
        private(set) var inputCapacity = 0
        /// Bytes that were not sent yet.
        private(set) var unsent = 0
        /// Bytes of elements in the reply that is being filled.
        private(set) var openArrayBytes = 0

        init() {}

        init(of session: borrowing ServerSession) {
            pendingInput = session.pendingInput
            inputCapacity = session.inputCapacity
            unsent = session.unsent
            openArrayBytes = session.openArrayBytes
        }
    }
}
