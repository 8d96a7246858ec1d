import CountdownCore
import Glibc
import System
import Varlink

/// The bytes that all connections hold together. Each connection counts itself.
final class ConnectionTotals {
    /// The output that the clients have not read yet.
    fileprivate(set) var unsent = 0
    /// The most that `unsent` ever was.
    fileprivate(set) var mostUnsent = 0
    /// The memory for input that is not carried out yet.
    fileprivate(set) var received = 0
    /// The requests of all watches and lists in progress.
    fileprivate(set) var requested = 0
}

/// A client's connection: its socket, its session, and its unfinished reply.
final class Connection {
    /// Queues of the connection table.
    struct Queues: OptionSet {
        let rawValue: UInt8

        static let calls = Queues(rawValue: 1)
        static let scan = Queues(rawValue: 2)
        static let output = Queues(rawValue: 4)
        static let page = Queues(rawValue: 8)
    }

    /// A reply that is not finished when its call was carried out. The calls behind it wait.
    enum UnfinishedReply {
        /// `Wait`: for the end of the countdown under a key, after this revision.
        case waiting(Key, after: Revision)
        /// `Start` with `ifRunning: wait`: until its turn comes.
        case queued(Request.Start, number: Int)
        case listing(ListCursor)
        case watching(WatchCursor)
    }

    enum Condition: Equatable {
        case open
        /// To be closed once its output is written.
        case closing
        /// The client is gone, or was disconnected.
        case gone
    }

    let token: UInt64
    let user: uid_t
    /// Whether its user has too many connections. Its first call is answered with that error, then it is closed.
    let isOverQuota: Bool
    /// The sizes of the session's buffers after its last use.
    private(set) var buffers: BufferStatistics
    var unfinishedReply: UnfinishedReply?
    /// Its calls that wait for the engine of a fleet.
    var sharedCalls = SharedCalls()
    /// Whether further calls have to wait for replies to those before them.
    var isHeldUp = false
    var condition = Condition.open
    /// When it got its last event.
    var lastDelivery = BootInstant(microseconds: 0)
    /// Whether the last send was partial. Ticks are skipped until the socket has taken the rest.
    private(set) var isBlocked = false
    /// Whether the client will send no more; it may still read.
    private(set) var inputHasEnded = false
    /// Whether its calls and scans pause until the client has read its output.
    var isThrottled = false
    /// The directions for which the poller reports it.
    var isReading = true
    var isWriting = false
    /// The queues of the connection table in which it stands.
    var queued: Queues = []
    /// Its parts of the totals.
    private(set) var counted = (unsent: 0, received: 0, requested: 0)

    private let totals: ConnectionTotals
    private let socket: Descriptor
    private var session: ServerSession

    var descriptor: Int32 { socket.number }
    var watcher: WatcherID { WatcherID(Int(truncatingIfNeeded: token)) }

    init(
        socket: consuming Descriptor,
        token: UInt64,
        of user: uid_t,
        isOverQuota: Bool = false,
        totals: ConnectionTotals,
        session: consuming ServerSession
    ) {
        self.socket = socket
        self.token = token
        self.user = user
        self.isOverQuota = isOverQuota
        self.totals = totals
        buffers = BufferStatistics(of: session)
        self.session = session
    }

    /// Uses the session with one exclusivity check.
    @inline(__always)
    func use<Result>(_ body: (inout ServerSession) -> Result) -> Result {
        func use(_ session: inout ServerSession) -> Result {
            defer { buffers = BufferStatistics(of: session) }
            return body(&session)
        }
        return use(&session)
    }

    /// Whether a reply is unfinished; later calls wait behind it.
    var isBusy: Bool { unfinishedReply != nil }
    /// Whether a call has no reply yet.
    var expectsReplies: Bool { isBusy || !sharedCalls.isEmpty }

    /// Whether more may be read: pending input is limited to the size of the largest call.
    func wantsInput(_ limits: Limits) -> Bool {
        condition == .open && !inputHasEnded && buffers.pendingInput <= limits.messageBytes
    }

    /// The bytes of its queued start, which count towards the received bytes.
    var queuedBytes: Int { if case .queued(let start, _) = unfinishedReply { start.size } else { 0 } }

    /// Reads the received bytes from the socket, up to the size of the buffer.
    func receive(into buffer: inout [UInt8]) {
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket.number, $0.baseAddress, $0.count, 0) }
        switch count {
        case 1...: use { $0.receive(buffer.span.extracting(0..<count)) }
        case 0: inputHasEnded = true
        default: if errno != EAGAIN && errno != EINTR { condition = .gone }
        }
        self.count()
    }

    /// Writes as much as the socket takes. The memory of the output is kept if more output is about to follow.
    func send(keepingCapacity: Bool = false) {
        isBlocked = false
        while buffers.unsent > 0, !isBlocked, condition != .gone {
            use { session in session.withUnsent(keepingCapacity: keepingCapacity) { write($0) } }
        }
        count()
    }

    /// - Returns: the number of bytes that the socket took.
    private func write(_ unsent: Span<UInt8>) -> Int {
        let count = unsafe unsent.withUnsafeBytes { bytes in
            unsafe Glibc.send(socket.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
        if count < 0 {
            if errno == EAGAIN { isBlocked = true } else if errno != EINTR { condition = .gone }
        }
        return max(0, count)
    }

    /// Ends the array reply under construction, if there is one.
    func endArray() {
        if buffers.openArrayBytes > 0 { use { $0.endArray() } }
    }

    /// Disconnects the client and drops its output.
    func drop() {
        condition = .gone
        use { $0.dropUnsent() }
        count()
    }

    /// Adds events, with commas between them, to the array reply under construction, after ending it if it is full.
    ///
    /// - Returns: whether it was full.
    func deliver(_ batch: borrowing JSONWriter, at now: Now, pageBytes: Int) -> Bool {
        lastDelivery = now.boot
        let isFull = buffers.openArrayBytes + batch.count > pageBytes
        if isFull { endArray() }
        use { $0.appendElements("events", batch) }
        return isFull
    }
}

/// Its bytes in the totals.
extension Connection {
    /// Counts its output, its memory for input and its queued start as they are now; nothing once its client is gone.
    func count() {
        let received = condition == .gone ? 0 : buffers.inputCapacity + queuedBytes
        totals.unsent += buffers.unsent - counted.unsent
        totals.mostUnsent = max(totals.mostUnsent, totals.unsent)
        totals.received += received - counted.received
        (counted.unsent, counted.received) = (buffers.unsent, received)
    }

    /// Counts bytes that its watch or list takes until `releaseRequest`.
    /// - Returns: whether there was room below the limit; if not, nothing is counted.
    func reserve(_ bytes: Int, limit: Int) -> Bool {
        guard bytes == 0 || totals.requested + bytes <= limit else { return false }
        totals.requested += bytes
        counted.requested += bytes
        return true
    }

    func releaseRequest() {
        totals.requested -= counted.requested
        counted.requested = 0
    }

    /// The sizes of a session's buffers.
    ///
    /// They are read many times in a turn. Each access to the session itself is checked for exclusivity, which takes
    /// 110 instructions; reading a copy of the numbers does not.
    struct BufferStatistics {
        /// Received bytes that are no part of a call yet.
        let pendingInput: Int
        /// The memory for received bytes.
        let inputCapacity: Int
        /// Bytes that are not sent yet.
        let unsent: Int
        /// The bytes of the elements in the array reply under construction.
        let openArrayBytes: Int

        init(of session: borrowing ServerSession) {
            pendingInput = session.pendingInput
            inputCapacity = session.inputCapacity
            unsent = session.unsent
            openArrayBytes = session.openArrayBytes
        }
    }
}
