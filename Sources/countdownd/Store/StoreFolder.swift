import CLinux
import CountdownCore
import Glibc
import System

/// The folder of a log, `STATE/log`, and its files, which any program of the same user can remove, replace or truncate.
///
/// All names in it are opened, renamed and removed relative to its descriptor. It is locked as long as the value lives, and so is each
/// file, so that a second daemon is refused that comes by another name.
final class StoreFolder {
    /// The name of the folder in the state directory.
    static let name = "log"
    /// The name of a folder that is written from memory.
    static let rewritten = name + LogName.unfinished

    /// A file that has to be there.
    private struct KnownFile {
        let kind: LogName.Kind
        let number: Int64
        /// Nil if it could not be opened for writing, or had to be closed.
        var file: LogFile?
        /// Nil if it could not be opened.
        var identity: FileIdentity?
        /// Its status since nobody writes to it any more; nil for the segment that is written to.
        var closed: stat?
    }

    /// The state directory.
    let state: String
    private(set) var path: String
    let descriptor: Descriptor
    private let identity: FileIdentity
    private var files: [KnownFile] = []
    private var reserve = DescriptorReserve()
    /// Nil if the system has no watch left; then all commits compare.
    private var watch: FileWatch?
    /// Whether a report has to be followed by a comparison that has not succeeded yet.
    private(set) var mustCompare = false

    /// Opens and locks a folder.
    ///
    /// - Parameters:
    ///   - state: the state directory.
    ///   - name: of the folder in it.
    ///   - isRead: whether it is read alone, so that it is not locked.
    /// - Throws: `held` if another daemon has locked it.
    init(in state: String, name: String = StoreFolder.name, isRead: Bool = false) throws(OpenError) {
        (self.state, path) = (state, "\(state)/\(name)")
        do throws(SystemFailure) {
            let number = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            descriptor = try Descriptor(owning: number, of: "open")
            guard let identity = FileIdentity(of: descriptor.number) else { throw SystemFailure("fstat") }
            self.identity = identity
            guard isRead || flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 else { throw SystemFailure("flock") }
        } catch {
            guard error.code != EWOULDBLOCK else { throw Self.held(path) }
            throw .unavailable(StoreFailure(error, of: path))
        }
    }

    private static func held(_ path: String) -> OpenError {
        .held(path: path, holder: "through a link, or since before its lock file was removed")
    }

    /// Makes a folder that is to be written from memory. What has its name is removed if it is no file of somebody else's.
    static func makeRewritten(in state: String) throws(SystemFailure) -> StoreFolder {
        let path = "\(state)/\(rewritten)"
        for name in (try? FileStatus.names(in: path)) ?? [] { unsafe unlink("\(path)/\(name)") }
        unsafe rmdir(path)
        guard unsafe mkdir(path, 0o700) == 0 else { throw SystemFailure("mkdir") }
        do throws(OpenError) {
            return try StoreFolder(in: state, name: rewritten)
        } catch {
            throw SystemFailure("open", code: EBUSY)
        }
    }

    /// Whether a folder was written from memory to its end, and has not got the name of the log.
    static func hasWholeRewrite(in state: String) -> Bool {
        FileIdentity(of: "\(state)/\(name)") == nil
            && FileIdentity(of: "\(state)/\(rewritten)/\(LogName.name(.base, 1))") != nil
    }

    /// Gives a folder that is written from memory the name of the log, in the place of what has it.
    ///
    /// - Returns: where that is kept; nil if there was nothing.
    static func adoptRewritten(in state: String, at now: WallInstant) throws(SystemFailure) -> String? {
        let kept =
            FileIdentity(of: "\(state)/\(name)") == nil ? nil : try moveAside(in: state, as: "replaced", at: now)
        guard unsafe rename("\(state)/\(rewritten)", "\(state)/\(name)") == 0 else { throw SystemFailure("rename") }
        try StoredText.synchronize(state)
        return kept
    }

    /// Notes that the folder has the name of the log.
    func noteAdoption() { path = "\(state)/\(Self.name)" }

    // MARK: Names

    /// The names in the folder.
    func names() throws(SystemFailure) -> [String] { try FileStatus.names(in: "/proc/self/fd/\(descriptor.number)") }

    /// Locks the files with these names, so that no other daemon writes to them meanwhile. What cannot be opened for writing is not
    /// locked.
    func lock(_ names: [String], synchronously: Bool) throws(OpenError) {
        for name in names {
            guard let (kind, number) = LogName.parse(name) else { continue }
            do throws(SystemFailure) {
                try hold(kind, number, synchronously)
            } catch {
                if error.code == EAGAIN { throw Self.held("\(path)/\(name)") }
                files.append(KnownFile(kind: kind, number: number))
            }
        }
    }

    @discardableResult
    private func hold(
        _ kind: LogName.Kind,
        _ number: Int64,
        _ isSynchronous: Bool
    ) throws(SystemFailure) -> LogFile {
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (isSynchronous ? O_DSYNC : 0)
        let file = try LogFile(owning: unsafe openat(descriptor.number, LogName.name(kind, number), flags))
        note(closed: file, kind, number)
        return file
    }

    /// Notes a file that nobody writes to.
    private func note(closed file: LogFile, _ kind: LogName.Kind, _ number: Int64) {
        let closed = Self.status(of: file.descriptor.number)
        files.append(KnownFile(kind: kind, number: number, file: file, identity: file.identity, closed: closed))
    }

    /// The open file with a name, opened for writing.
    func file(_ kind: LogName.Kind, _ number: Int64, synchronously: Bool) throws(SystemFailure) -> LogFile {
        if let known = files.first(where: { $0.kind == kind && $0.number == number })?.file { return known }
        files.removeAll { $0.kind == kind && $0.number == number }
        return try hold(kind, number, synchronously)
    }

    /// The open segments from a number on.
    func segments(from number: Int64) -> [LogFile] {
        files.filter { $0.kind == .segment && $0.number >= number }.compactMap(\.file)
    }

    var segmentCount: Int { files.count { $0.kind == .segment } }

    /// Makes a file that has no name for good yet. There is a descriptor for it even if clients have taken all others.
    func make(_ kind: LogName.Kind, _ number: Int64, synchronously: Bool) throws(SystemFailure) -> LogFile {
        let flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | (synchronously ? O_DSYNC : 0)
        let name = LogName.name(kind, number) + LogName.unfinished
        reserve.release()
        defer { refillReserve() }
        return try LogFile(owning: unsafe openat(descriptor.number, name, flags, 0o600))
    }

    /// Without a descriptor for the next file, the oldest segment that is closed gives its own; then only the folder's lock keeps another
    /// daemon from it.
    private func refillReserve() {
        while !reserve.fill(), let index = files.firstIndex(where: { $0.closed != nil && $0.file != nil }) {
            files[index].file = nil
        }
    }

    /// Gives a new segment its name, which must be free.
    func name(_ file: LogFile, segment number: Int64) throws(SystemFailure) {
        let name = LogName.name(.segment, number)
        let new = name + LogName.unfinished
        if unsafe linkat(descriptor.number, new, descriptor.number, name, 0) != 0 {
            // A network file system may have made the link, and report that it exists.
            let failure = SystemFailure("link")
            guard FileIdentity(of: "\(path)/\(name)") == file.identity else { throw failure }
        }
        unsafe unlinkat(descriptor.number, new, 0)
        for index in files.indices where files[index].closed == nil {
            files[index].closed = files[index].file.flatMap { Self.status(of: $0.descriptor.number) }
        }
        files.append(KnownFile(kind: .segment, number: number, file: file, identity: file.identity))
        mustCompare = true
    }

    /// Forgets the files before a base: they do not count, and may be somebody else's.
    func forget(before base: Int64) { files.removeAll { $0.number < base } }

    /// Notes that the segment with this number is written to.
    func activate(segment number: Int64) {
        for index in files.indices where files[index].kind == .segment && files[index].number == number {
            files[index].closed = nil
        }
    }

    /// Gives a base its name, in the place of older files.
    ///
    /// - Returns: the names of the older files, which may be removed once the folder is synced.
    func name(_ file: LogFile, base number: Int64) throws(SystemFailure) -> [String] {
        let name = LogName.name(.base, number)
        guard unsafe renameat(descriptor.number, name + LogName.unfinished, descriptor.number, name) == 0 else {
            throw SystemFailure("rename")
        }
        let older = files.filter { $0.number < number }.map { LogName.name($0.kind, $0.number) }
        files.removeAll { $0.number < number }
        note(closed: file, .base, number)
        mustCompare = true
        return older
    }

    func remove(_ name: String) {
        unsafe unlinkat(descriptor.number, name, 0)
        if let (kind, number) = LogName.parse(name) { files.removeAll { $0.kind == kind && $0.number == number } }
        mustCompare = true
    }

    /// Waits until the names are on the disk.
    func sync() throws(SystemFailure) {
        guard fsync(descriptor.number) == 0 else { throw SystemFailure("fsync") }
    }

    /// The free bytes of the file system; nil if they are not known.
    var freeBytes: Int64? {
        var status = statvfs()
        guard unsafe fstatvfs(descriptor.number, &status) == 0 else { return nil }
        return Int64(status.f_bavail) * Int64(status.f_frsize)
    }

    // MARK: Comparison

    /// Begins to watch the names, and that of the folder.
    func beginWatch() {
        guard let watch = try? FileWatch(), (try? watch.add(namesIn: path)) != nil,
            (try? watch.add(namesIn: state)) != nil
        else { return }
        self.watch = consume watch
    }

    /// Whether a name may have changed since the last comparison.
    var hasReports: Bool {
        guard watch?.takeReports() ?? true else { return mustCompare }
        mustCompare = true
        return true
    }

    /// Compares the path of one segment with the file that was opened: the least that notices a removed folder, or a file system that
    /// is mounted over it.
    func check(segment number: Int64, bytes: Int64) throws(StoreFailure) {
        guard let known = files.last(where: { $0.kind == .segment && $0.number == number }) else { return }
        try check(known, bytes: bytes)
    }

    /// Compares all paths.
    ///
    /// - Parameter bytes: the least size of the segment that is written to.
    /// - Throws: if one of them was removed, replaced, truncated or overwritten.
    func checkAll(bytes: Int64) throws(StoreFailure) {
        mustCompare = true
        _ = hasReports
        for known in files { try check(known, bytes: bytes) }
        mustCompare = false
    }

    private func check(_ known: KnownFile, bytes: Int64) throws(StoreFailure) {
        guard let identity = known.identity else { return }
        let path = "\(path)/\(LogName.name(known.kind, known.number))"
        guard let now = FileIdentity.status(of: path) else {
            guard errno == ENOENT || errno == ENOTDIR else { throw StoreFailure(SystemFailure("stat"), of: path) }
            throw Self.lost(path, "was removed or renamed")
        }
        guard now.st_dev == identity.device, now.st_ino == identity.inode else {
            throw Self.lost(path, "was replaced")
        }
        guard let closed = known.closed else {
            guard now.st_size >= bytes else { throw Self.lost(path, "was truncated") }
            return
        }
        guard now.st_size >= closed.st_size else { throw Self.lost(path, "was truncated") }
        let isSame =
            now.st_size == closed.st_size && now.st_mtim.tv_sec == closed.st_mtim.tv_sec
            && now.st_mtim.tv_nsec == closed.st_mtim.tv_nsec
        guard isSame else { throw Self.lost(path, "was overwritten") }
    }

    private static func lost(_ path: String, _ event: String) -> StoreFailure {
        StoreFailure(reason: "\(path) \(event)", hint: .leaveFilesAlone, isOfFiles: true)
    }

    private static func status(of descriptor: Int32) -> stat? {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? status : nil
    }

    /// Checks whether a new folder may be written beside this one.
    ///
    /// - Throws: if the state directory is gone, or may be the empty mount point of a disk that is not mounted.
    func checkPlace() throws(StoreFailure) {
        guard let place = FileIdentity(following: state) else {
            throw StoreFailure(reason: "the directory \(state) was removed or renamed", hint: .makeDirectory)
        }
        guard place.device == identity.device else {
            throw StoreFailure(reason: "the file system of \(state) was unmounted", hint: .mount)
        }
    }

    // MARK: Moving aside

    /// Links files to their names in a new folder beside this one, `STATE/log-REASON-DATE`, so that they stay when they are removed
    /// here.
    ///
    /// - Returns: the path of the new folder.
    func keep(_ names: [String], as reason: String, at now: WallInstant) throws(SystemFailure) -> String {
        let place = Self.freePath(in: state, for: reason, at: now)
        guard unsafe mkdir(place, 0o700) == 0 else { throw SystemFailure("mkdir") }
        for name in names {
            guard unsafe linkat(descriptor.number, name, AT_FDCWD, "\(place)/\(name)", 0) == 0 else {
                throw SystemFailure("link")
            }
        }
        try StoredText.synchronize(place)
        try StoredText.synchronize(state)
        return place
    }

    /// Gives a folder another name with the date.
    ///
    /// - Returns: its new path.
    static func moveAside(
        _ name: String = StoreFolder.name,
        in state: String,
        as reason: String,
        at now: WallInstant
    ) throws(SystemFailure) -> String {
        let place = freePath(in: state, for: reason, at: now)
        if unsafe rename("\(state)/\(name)", place) != 0 {
            // A network file system may have renamed it, and report that it is gone.
            let failure = SystemFailure("rename")
            guard FileIdentity(of: place) != nil else { throw failure }
        }
        return place
    }

    private static func freePath(in state: String, for reason: String, at now: WallInstant) -> String {
        let stamp = unsafe String(unsafeUninitializedCapacity: Int(LINUX_STAMP_LENGTH)) {
            unsafe Int(linux_utc_stamp(time_t(now.microseconds / 1_000_000), $0.baseAddress))
        }
        let stem = "\(state)/\(name)-\(reason)-\(stamp)"
        guard FileIdentity(of: stem) != nil else { return stem }
        var number = 2
        while FileIdentity(of: "\(stem)-\(number)") != nil { number += 1 }
        return "\(stem)-\(number)"
    }
}
