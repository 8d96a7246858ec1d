public import CountdownCore

/// The number of a change in the log of a fleet. The engine gives them, in order and without gaps.
public struct LogVersion: Comparable, Hashable, Sendable {
    /// The number; a later change has a greater one.
    public let number: Int64

    /// The version with a number.
    public init(_ number: Int64) { self.number = number }

    /// An earlier change is less than a later one.
    public static func < (left: LogVersion, right: LogVersion) -> Bool { left.number < right.number }

    var next: LogVersion { LogVersion(number.addingReportingOverflow(1).partialValue) }
}

/// The name of a proposal, which is also the name of the record that it makes: unique in the whole fleet.
///
/// As text, it is the 16 random bytes of a daemon's start in hexadecimal digits, a dot, and a counter.
public struct ProposalID: Hashable, Sendable {
    /// The random bytes of the daemon that made it.
    public let host: HostID
    /// Its number among the proposals of that daemon.
    public let number: UInt64

    /// In the place of an ID that no daemon makes.
    public static let foreign = ProposalID(host: HostID(0, 0), number: 0)

    init(host: HostID, number: UInt64) {
        self.host = host
        self.number = number
    }

    /// Parses a text.
    ///
    /// - Returns: nil if it does not have the form that this type writes.
    public init?(_ text: String) { self.init(text.utf8Span) }

    /// Parses a text.
    ///
    /// - Returns: nil if it does not have the form that this type writes.
    public init?(_ text: UTF8Span) {
        let bytes = text.span
        guard bytes.count > HostID.digits + 1, let host = HostID(bytes), bytes[HostID.digits] == UInt8(ascii: "."),
            let number = Self.number(bytes.extracting(droppingFirst: HostID.digits + 1))
        else { return nil }
        self.init(host: host, number: number)
    }

    /// Reads a decimal number. A sign and leading zeros make another name.
    private static func number(_ digits: Span<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for index in digits.indices {
            guard case let value = digits[index] &- UInt8(ascii: "0"), value < 10, number > 0 || index == 0 else {
                return nil
            }
            let (product, isTooGreat) = number.multipliedReportingOverflow(by: 10)
            let (sum, isGreater) = product.addingReportingOverflow(UInt64(value))
            guard !isTooGreat, !isGreater else { return nil }
            number = sum
        }
        return number
    }

    /// The ID as text.
    public var text: String {
        unsafe String(unsafeUninitializedCapacity: Self.longestText) { bytes in
            unsafe host.write(into: bytes)
            unsafe bytes[HostID.digits] = UInt8(ascii: ".")
            var count = HostID.digits + 1
            for digit in String(number).utf8 {
                unsafe bytes[count] = digit
                count += 1
            }
            return count
        }
    }

    /// The bytes of the longest ID: the greatest number has 20 digits.
    private static let longestText = HostID.digits + 1 + 20
}

/// The random bytes that a daemon drew when it started.
public struct HostID: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// 16 random bytes, in two words.
    public init(_ high: UInt64, _ low: UInt64) { (self.high, self.low) = (high, low) }

    /// The number of digits of the text.
    static let digits = 32

    /// 32 hexadecimal digits, with which the IDs of the daemon's proposals begin.
    public var text: String {
        unsafe String(unsafeUninitializedCapacity: Self.digits) { digits in
            unsafe write(into: digits)
            return Self.digits
        }
    }

    /// Writes the digits at the beginning of a buffer.
    @unsafe
    fileprivate func write(into buffer: UnsafeMutableBufferPointer<UInt8>) {
        for place in 0..<Self.digits {
            let word = place < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (place % 16)) & 0xF)
            unsafe buffer[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
    }

    /// Parses the first 32 bytes as hexadecimal digits; nil if they are not. A capital makes another
    /// name.
    fileprivate init?(_ text: Span<UInt8>) {
        var words: (UInt64, UInt64) = (0, 0)
        for place in 0..<Self.digits {
            let byte = text[place]
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte &- UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte &- UInt8(ascii: "a") &+ 10
            default: return nil
            }
            words = (words.0 << 4 | words.1 >> 60, words.1 << 4 | UInt64(digit))
        }
        self.init(words.0, words.1)
    }
}

/// The time by the engine's clock in which a proposal may be made.
public struct Window: Equatable, Sendable {
    /// The first instant; nil if it may be made at once.
    public var notBefore: WallInstant?
    /// The last instant.
    public var notAfter: WallInstant
}

/// A request of a host to the engine: to replace the record that the host knows, or to confirm it.
public struct Proposal: Equatable, Sendable {
    /// The key of the countdown.
    public let key: Key
    /// The record on which the host has decided; nil if it knows none.
    public let expected: ProposalID?
    /// When it may be made.
    public var window: Window
    /// When the engine may remove the record; nil for never.
    public let due: WallInstant?
    /// Its name. A proposal that is sent again has the same one.
    public let id: ProposalID
    /// The new record as JSON; nil if the known one is to be confirmed.
    public let record: [UInt8]?
}

/// A change as the engine keeps and logs it.
public struct LogEntry: Equatable, Sendable {
    /// The key of the countdown.
    public let key: Key
    /// Its place in the log of the fleet.
    public let version: LogVersion
    /// The proposal that made it.
    public let id: ProposalID
    /// The record as JSON; nil if the engine holds none any more.
    public let record: [UInt8]?

    /// An entry of a log.
    public init(key: Key, version: LogVersion, id: ProposalID, record: [UInt8]?) {
        self.key = key
        self.version = version
        self.id = id
        self.record = record
    }
}

/// The outcome of a proposal.
public enum Answer: Equatable, Sendable {
    /// It was made, or confirmed; the version of the record.
    case won(LogVersion)
    /// It was made, but too few replicas have acknowledged it.
    case unacknowledged(LogVersion)
    /// The engine holds another record than the expected one, or none.
    case conflict(LogEntry?)
    /// It was not made: its window is not open yet.
    case early
    /// It was not made: its window has closed.
    case late
    /// It may have been made; the reason in words.
    case unknown(String)
    /// It was not made, because it could not be sent or was refused; the reason in words.
    case unreachable(String)

    /// The version of the record that was made or confirmed; nil if it was not.
    var version: LogVersion? {
        switch self {
        case .won(let version), .unacknowledged(let version): version
        case .conflict, .early, .late, .unknown, .unreachable: nil
        }
    }
}

/// The state on which a request is decided, as far as it bounds the window of its proposal.
enum Basis: Equatable {
    /// There is no record, or the countdown was cancelled or finished.
    case free
    /// The countdown is live until an instant; nil if it is paused.
    case live(until: WallInstant?)
    /// The deadline has passed.
    case expired(WallInstant)

    /// - Parameters:
    ///   - end: the deadline, or the instant of the end; nil if there is neither.
    ///   - hasEnded: whether there is no countdown, or a request has ended it.
    ///   - now: the time by the engine's clock.
    init(end: WallInstant?, hasEnded: Bool, at now: WallInstant) {
        self = hasEnded ? .free : end.map { $0 <= now ? .expired($0) : .live(until: $0) } ?? .live(until: nil)
    }

    /// The deadline of a countdown that is running.
    var deadline: WallInstant? {
        guard case .live(let deadline) = self else { return nil }
        return deadline
    }

    /// The window of a change. It is decided by the time of this host, so it is not made by a clock that is far behind that.
    ///
    /// - Returns: nil if the deadline is so near that the request must wait for it.
    func windowOfChange(at now: WallInstant, until limit: WallInstant, patience: Duration, margin: Duration) -> Window?
    {
        let first = now - patience
        switch self {
        case .free, .live(nil): return Window(notBefore: first, notAfter: limit)
        case .expired(let deadline): return Window(notBefore: max(first, deadline), notAfter: limit)
        case .live(let deadline?):
            let last = deadline - margin
            return last < now ? nil : Window(notBefore: first, notAfter: min(limit, last))
        }
    }

    /// The window of a confirmation: while the state is the same.
    func windowOfConfirmation(until limit: WallInstant) -> Window {
        switch self {
        case .free, .live(nil): Window(notBefore: nil, notAfter: limit)
        case .expired(let deadline): Window(notBefore: deadline, notAfter: limit)
        case .live(let deadline?): Window(notBefore: nil, notAfter: min(limit, deadline))
        }
    }
}
