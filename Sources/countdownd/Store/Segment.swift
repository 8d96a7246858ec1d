import Glibc
import System
import Varlink

/// An open file of a log. It is locked for this open file alone, as long as the value lives: a second daemon that finds the file
/// by any name cannot lock it.
final class LogFile: Sendable {
    /// F_OFD_SETLK of fcntl(2), which Glibc's module lacks.
    private static let setLockOfOpenFile: Int32 = 37

    let descriptor: Descriptor
    let identity: FileIdentity

    /// Takes over what openat(2) has returned.
    ///
    /// - Throws: `EAGAIN` if another process has locked the file. A file system without such locks is no error.
    init(owning number: Int32) throws(SystemFailure) {
        descriptor = try Descriptor(owning: number, of: "open")
        guard let identity = FileIdentity(of: descriptor.number) else { throw SystemFailure("fstat") }
        self.identity = identity
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        guard unsafe fcntl(descriptor.number, Self.setLockOfOpenFile, &lock) != 0 else { return }
        guard errno != EAGAIN, errno != EACCES else { throw SystemFailure("lock", code: EAGAIN) }
    }

    var size: Int64 { Int64(lseek(descriptor.number, 0, SEEK_END)) }

    /// Writes everything at an offset, or throws; then any part may have been written.
    func write(_ bytes: Span<UInt8>, at offset: Int64) throws(SystemFailure) {
        var done = 0
        while done < bytes.count {
            let written = unsafe bytes.withUnsafeBytes { bytes in
                unsafe pwrite(
                    descriptor.number,
                    bytes.baseAddress.map { unsafe $0 + done },
                    bytes.count - done,
                    off_t(offset) + done
                )
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw SystemFailure("pwrite", code: written == 0 ? ENOSPC : errno) }
            done += written
        }
    }

    func sync() throws(SystemFailure) {
        guard fdatasync(descriptor.number) == 0 else { throw SystemFailure("fdatasync") }
    }
}

/// The segment to which turns are appended.
struct Segment {
    /// Zeros that are written ahead, so that a write which waits for the disk changes no metadata of the file.
    private static let ahead: Int64 = 256 << 10

    let number: Int64
    let file: LogFile
    /// Whether each write waits for the disk.
    let isSynchronous: Bool
    /// Where the next turn begins.
    private(set) var position: Int64
    private var zeroedUpTo: Int64

    init(_ number: Int64, _ file: LogFile, isSynchronous: Bool, position: Int64) {
        (self.number, self.file, self.isSynchronous, self.position) = (number, file, isSynchronous, position)
        zeroedUpTo = max(position, file.size)
    }

    /// The first turns of a segment: its heading and the state, and the state once more, so that the segment can be read if one of them
    /// is damaged.
    ///
    /// - Returns: their bytes, and the chain behind them.
    static func firstTurns(
        of number: Int64,
        after chain: TurnChain,
        _ state: StateLine,
        forgettingFleet: Bool = false
    ) -> (bytes: [UInt8], next: TurnChain) {
        var lines = JSONWriter()
        HeadingLine(.segment, number, after: chain.sum).write(into: &lines)
        state.write(into: &lines)
        if forgettingFleet { FleetLine.nothing.write(into: &lines) }
        var next = TurnChain(of: LogName.name(.segment, number), in: state.store, turn: chain.turn, after: chain.sum)
        next.seal(&lines)
        var again = JSONWriter()
        state.write(into: &again)
        next.seal(&again)
        return (lines.bytes + again.bytes, next)
    }

    /// Appends a turn. If that fails, the next one is written in its place.
    mutating func append(_ turn: Span<UInt8>) throws(SystemFailure) {
        if isSynchronous, position + Int64(turn.count) > zeroedUpTo { fillAhead() }
        try file.write(turn, at: position)
        position += Int64(turn.count)
    }

    /// Whether another program has truncated the file. The next turn would hide it, since a write behind the end fills the gap with
    /// zeros.
    var isTruncated: Bool { file.size < position }

    /// Overwrites the beginning of a turn that could not be written, so that it is not found.
    func takeBack() {
        let zeros = [UInt8](repeating: 0, count: 16)
        try? file.write(zeros.span, at: position)
    }

    /// Writes zeros ahead if few are left.
    mutating func prepare() {
        if isSynchronous, position + Self.ahead / 2 > zeroedUpTo { fillAhead() }
    }

    /// Without room for them, the turn itself may still fit.
    private mutating func fillAhead() {
        let zeros = [UInt8](repeating: 0, count: Int(Self.ahead))
        let start = max(zeroedUpTo, position)
        if (try? file.write(zeros.span, at: start)) != nil { zeroedUpTo = start + Self.ahead }
    }
}
