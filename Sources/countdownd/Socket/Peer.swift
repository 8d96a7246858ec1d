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
    var session: ServerSession
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
        self.session = session
    }

    /// Whether a call of its is not answered yet; the next ones wait behind it.
    var isBusy: Bool {
        if case .none = activity { return false }
        return true
    }

    /// Whether more may be read: what is not carried out yet stays below the size of the largest call.
    func wantsInput(_ policy: Policy) -> Bool {
        condition == .open && !inputHasEnded && session.pendingInput <= policy.messageBytes
    }

    /// Reads what is there, a portion at most.
    func receive(into buffer: inout [UInt8]) {
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket.number, $0.baseAddress, $0.count, 0) }
        switch count {
        case 1...: session.receive(buffer.span.extracting(0..<count))
        case 0: inputHasEnded = true
        default: if errno != EAGAIN && errno != EINTR { condition = .gone }
        }
    }

    /// Writes what the socket takes.
    func send() {
        isBlocked = false
        while session.unsent > 0, !isBlocked, condition != .gone {
            session.withUnsent { unsent in
                let count = unsafe unsent.withUnsafeBytes { bytes in
                    unsafe Glibc.send(socket.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                }
                if count < 0 {
                    if errno == EAGAIN { isBlocked = true } else if errno != EINTR { condition = .gone }
                }
                return max(0, count)
            }
        }
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
        let isFull = session.filled + round.count > pageBytes
        if isFull { session.closeFilled() }
        session.fill("events", with: round)
        return isFull
    }
}
