import CLinux
import CountdownCore
import Glibc
import System

/// The file of a database and its companions, examined without SQLite, which would change them: SQLite replays a log, or
/// removes it if the database is missing.
struct DatabaseFiles {
    /// The suffix that SQLite appends to the name of the database for the name of a companion.
    enum Companion: String, CaseIterable {
        case log = "-wal"
        case journal = "-journal"
        /// The index of the log; it contains nothing that is not in the log.
        case index = "-shm"
    }

    /// The path of the database, which may be a link.
    let path: String

    func path(of companion: Companion) -> String { path + companion.rawValue }

    var directory: String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

    /// Reads the header of the database.
    ///
    /// - Returns: nil if the file is missing or empty, so that a store can be created.
    /// - Throws: if SQLite should not open the file.
    func header() throws(OpenError) -> DatabaseHeader? {
        guard try status(of: path, followingLinks: false) != nil else {
            guard try !holdsSomething(.log), try !holdsSomething(.journal) else { throw .corrupt(.logAlone) }
            return nil
        }
        guard let file = try status(of: path, followingLinks: true) else {
            throw unavailable("it is a link to a missing file: restore the file, or remove the link")
        }
        guard file.st_mode & S_IFMT == S_IFREG else {
            throw unavailable("it is \(Self.kind(of: file.st_mode)), not a file: move it away")
        }
        let bytes = try firstBytes()
        let hasLog = try linkFollowed.holdsSomething(.log)
        do throws(Corruption) {
            guard bytes.isEmpty else { return try DatabaseHeader(bytes, hasLog: hasLog) }
            guard hasLog else { return nil }
            throw .damaged("it is empty, although it has a log of changes")
        } catch {
            throw .corrupt(error)
        }
    }

    /// Nil if there is no file. Throws if this cannot be known.
    func status(of path: String, followingLinks: Bool) throws(OpenError) -> stat? {
        if let status = FileIdentity.status(of: path, followingLinks: followingLinks) { return status }
        guard errno != ENOENT else { return nil }
        throw .unavailable(StoreFailure(SystemFailure("stat"), of: path))
    }

    /// SQLite keeps the companions beside the target of a link.
    var linkFollowed: DatabaseFiles {
        guard let target = unsafe realpath(path, nil) else { return self }
        defer { unsafe free(target) }
        return DatabaseFiles(path: unsafe String(cString: target))
    }

    private func holdsSomething(_ companion: Companion) throws(OpenError) -> Bool {
        try status(of: path(of: companion), followingLinks: false).map { $0.st_size > 0 } ?? false
    }

    private func firstBytes() throws(OpenError) -> [UInt8] {
        do throws(SystemFailure) {
            let file = try Descriptor(owning: unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), of: "open")
            var bytes = [UInt8](repeating: 0, count: DatabaseHeader.length)
            let count = unsafe pread(file.number, &bytes, bytes.count, 0)
            guard count >= 0 else { throw SystemFailure("read") }
            return Array(bytes.prefix(count))
        } catch {
            throw .unavailable(StoreFailure(error, of: path))
        }
    }

    private func unavailable(_ reason: String) -> OpenError {
        .unavailable(StoreFailure(reason: "\(path): \(reason)", hint: nil))
    }

    private static func kind(of mode: mode_t) -> String {
        switch mode & S_IFMT {
        case S_IFDIR: "a directory"
        case S_IFIFO: "a named pipe"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }
}

/// The header of a file, according to SQLite's file format.
struct DatabaseHeader {
    /// The size of the header in bytes.
    static let length = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    /// The ID of the program that owns the file.
    let applicationID: Int64
    let userVersion: Int64
    /// Whether SQLite reads and writes this format of log, journal and schema.
    let isUsual: Bool
    /// Whether there is a log, which may contain newer values.
    let hasLog: Bool

    /// - Parameters:
    ///   - bytes: the beginning of the file, which is not empty; fewer than `length` if the file is shorter.
    ///   - hasLog: whether the file has a write-ahead log.
    /// - Throws: if this is not the header of a database.
    init(_ bytes: [UInt8], hasLog: Bool) throws(Corruption) {
        self.hasLog = hasLog
        guard bytes.starts(with: Self.magic) else { throw .notADatabase }
        guard bytes.count >= Self.length else { throw .damaged("its header is truncated") }
        func number(at place: Int) -> Int64 {
            Int64(Int32(truncatingIfNeeded: bytes[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }))
        }
        applicationID = number(at: 68)
        userVersion = number(at: 60)
        isUsual = bytes[18...19].allSatisfy { (1...2).contains($0) } && (0...4).contains(number(at: 44))
    }
}

extension DatabaseFiles {
    /// Reads all files to their end, to find out whether the disk works.
    func readThrough() throws(OpenError) {
        let files = linkFollowed
        for path in [files.path, files.path(of: .log), files.path(of: .journal)] {
            guard try status(of: path, followingLinks: true) != nil else { continue }
            do throws(SystemFailure) {
                try Self.readThrough(path)
            } catch {
                throw .unavailable(StoreFailure(error, of: path))
            }
        }
    }

    private static func readThrough(_ path: String) throws(SystemFailure) {
        let file = try Descriptor(owning: unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), of: "open")
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var count = 1
        while count > 0 { count = unsafe read(file.number, &bytes, bytes.count) }
        guard count == 0 else { throw SystemFailure("read") }
    }
}

/// Moving a database aside, unchanged, under a name with the date.
extension DatabaseFiles {
    /// Renames the database and its companions, so that sqlite3 finds them by the new name.
    ///
    /// If this is interrupted at any point, the database still has its log beside it, because the log has both names for a
    /// moment. If the database is a link, only the link is renamed.
    /// - Parameters:
    ///   - reason: a word for the new name.
    ///   - now: the date in the new name.
    /// - Returns: the new path of the database, or of the log if there is no database.
    /// - Throws: if the database could not be renamed.
    func quarantine(as reason: String = "unreadable", at now: WallInstant) throws(SystemFailure) -> String {
        let kept = DatabaseFiles(path: freePath(for: reason, at: now))
        guard let status = FileIdentity.status(of: path) else {
            guard errno == ENOENT else { throw SystemFailure("stat") }
            try moveCompanions(to: kept)
            return kept.path(of: .log)
        }
        guard status.st_mode & S_IFMT != S_IFLNK else {
            try Self.rename(path, kept.path)
            return kept.path
        }
        linkCompanions(to: kept)
        do throws(SystemFailure) {
            try Self.rename(path, kept.path)
        } catch {
            for companion in Companion.allCases { unsafe unlink(kept.path(of: companion)) }
            throw error
        }
        try moveCompanions(to: kept)
        return kept.path
    }

    private func freePath(for reason: String, at now: WallInstant) -> String {
        let stem = path.hasSuffix(".db") ? String(path.dropLast(3)) : path
        let stamp = unsafe String(unsafeUninitializedCapacity: Int(LINUX_STAMP_LENGTH)) {
            unsafe Int(linux_utc_stamp(time_t(now.microseconds / 1_000_000), $0.baseAddress))
        }
        var files = DatabaseFiles(path: "\(stem)-\(reason)-\(stamp).db")
        var number = 1
        while files.isAnyPresent {
            number += 1
            files = DatabaseFiles(path: "\(stem)-\(reason)-\(stamp)-\(number).db")
        }
        return files.path
    }

    /// Whether any of the names is taken.
    var isAnyPresent: Bool {
        ([path] + Companion.allCases.map(path(of:))).contains { FileIdentity.status(of: $0) != nil }
    }

    /// Links companions that contain data to their new names, if the file system supports links.
    private func linkCompanions(to kept: DatabaseFiles) {
        for companion in [Companion.log, .journal] { unsafe link(path(of: companion), kept.path(of: companion)) }
    }

    private func moveCompanions(to kept: DatabaseFiles) throws(SystemFailure) {
        for companion in Companion.allCases {
            let (old, new) = (path(of: companion), kept.path(of: companion))
            guard let identity = FileIdentity(of: old) else {
                if errno == ENOENT { continue }
                throw SystemFailure("stat")
            }
            if FileIdentity(of: new) == identity {
                unsafe unlink(old)
            } else {
                try Self.rename(old, new)
            }
        }
    }

    static func rename(_ old: String, _ new: String) throws(SystemFailure) {
        guard unsafe Glibc.rename(old, new) == 0 else { throw SystemFailure("rename") }
    }
}

/// Keeps a second daemon away from the database itself, even if it uses a hard link, or the same directory after its lock
/// file was removed.
struct DatabaseLock: ~Copyable {
    /// Nil if the file system does not support such locks, or the file is read-only.
    private let file: Descriptor?

    /// F_OFD_SETLK of fcntl(2), which Glibc's module lacks: the lock belongs to the open file and not to the process, so
    /// SQLite's locks are not affected by it.
    private static let setLockOfOpenFile: Int32 = 37

    /// Locks a byte beyond the end of any file, which SQLite never locks; false, with errno, if another open file has it.
    private static func lockLastByte(of descriptor: Int32) -> Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 1 << 62
        lock.l_len = 1
        return unsafe fcntl(descriptor, setLockOfOpenFile, &lock) == 0
    }

    /// Locks a database, and creates an empty file if it is missing.
    ///
    /// No connection of this process may be open on the file, and the lock has to be released after the last connection is
    /// closed: if a process closes any descriptor of a file, it loses all locks that SQLite has on it.
    /// - Throws: if another daemon holds the lock.
    init(path: String) throws(OpenError) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor >= 0, !Self.lockLastByte(of: descriptor), errno == EAGAIN || errno == EACCES {
            close(descriptor)
            throw .held(path: path, holder: "through a hard link, or since before its lock file was removed")
        }
        file = try? Descriptor(owning: descriptor, of: "open")
    }
}

/// The files of an open store, which any program of the same user can remove, replace or truncate.
///
/// A change that is written to a file without a name is lost at the next restart. So before each commit `mayBeLost` asks the
/// system whether a name has changed, in one call, and the size of the log. If so, `check` compares the paths with the files
/// that were opened, in 1.5 us per file and more for the next write: the system sets the time of a file anew that was asked
/// for it.
///
/// The system does not report a directory further up that was renamed, a file system that was mounted over the directory, or
/// another machine's changes on a network file system. So the daemon also compares every so often, and before it sleeps.
struct StoreFiles: ~Copyable {
    private let directory: String
    private let database: OpenFile
    private let log: OpenFile
    private let index: OpenFile
    /// The log, to read its size. SQLite locks the database and the index, so its locks do not end with this descriptor.
    private let logDescriptor: Descriptor
    /// Nil if the system has no watch left; then all commits compare.
    private let watch: FileWatch?
    /// Whether the last comparison found every file, and nothing was reported since.
    private var areComplete = true
    /// The size of the database; nil while a checkpoint may change it.
    private var databaseSize: off_t?
    private var indexSize: off_t

    private struct OpenFile {
        let path: String
        let status: stat

        init(_ path: String) throws(StoreFailure) {
            self.path = path
            guard let status = FileIdentity.status(of: path, followingLinks: true) else {
                throw StoreFailure(SystemFailure("stat"), of: path)
            }
            self.status = status
        }

        /// Compares the file that has the path now.
        ///
        /// - Returns: its status.
        /// - Throws: if it is not the file that was opened.
        func current() throws(StoreFailure) -> stat {
            guard let now = FileIdentity.status(of: path, followingLinks: true) else {
                guard errno == ENOENT || errno == ENOTDIR else { throw StoreFailure(SystemFailure("stat"), of: path) }
                throw lost("was removed or renamed")
            }
            guard now.st_dev == status.st_dev, now.st_ino == status.st_ino else { throw lost("was replaced") }
            return now
        }

        func open() throws(StoreFailure) -> Descriptor {
            do throws(SystemFailure) {
                return try Descriptor(owning: unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC), of: "open")
            } catch {
                throw StoreFailure(error, of: path)
            }
        }

        func lost(_ event: String) -> StoreFailure {
            StoreFailure(reason: "\(path) \(event)", hint: .leaveFilesAlone, isOfFiles: true)
        }
    }

    /// - Parameter files: of an open database with a write-ahead log.
    /// - Throws: if one of them is missing already.
    init(of files: DatabaseFiles) throws(StoreFailure) {
        let companions = files.linkFollowed
        let watch = try? Self.watch(files, companions)
        let database = try OpenFile(files.path)
        let log = try OpenFile(companions.path(of: .log))
        let index = try OpenFile(companions.path(of: .index))
        let logDescriptor = try log.open()
        (directory, self.database, self.log, self.index) = (files.directory, database, log, index)
        databaseSize = database.status.st_size
        indexSize = index.status.st_size
        self.logDescriptor = logDescriptor
        self.watch = watch
    }

    /// Watches the names, and the size of the database. The size of the log is read, because each commit writes to the log.
    private static func watch(_ files: DatabaseFiles, _ companions: DatabaseFiles) throws(SystemFailure) -> FileWatch {
        let watch = try FileWatch()
        try watch.add(namesIn: files.directory)
        try watch.add(namesIn: companions.directory)
        try watch.add(contentsOf: files.path)
        return watch
    }

    /// Asks whether something was reported, or the log is too short.
    ///
    /// - Parameter logBytes: the least size of the log.
    /// - Returns: whether `check` has to look for files that are lost.
    mutating func mayBeLost(logBytes: Int) -> Bool {
        guard let hasReports = watch?.takeReports() else { return true }
        if hasReports { areComplete = false }
        return !areComplete || lseek(logDescriptor.number, 0, SEEK_END) < logBytes
    }

    /// Compares the paths with the files that were opened. With the database or its log, changes would be lost; without the
    /// index of the log, other programs would not read new changes.
    ///
    /// - Parameters:
    ///   - logBytes: the least size of the log.
    ///   - isCheckpointing: whether the size of the database may be changing.
    /// - Throws: if one of them was removed, replaced or truncated.
    mutating func check(logBytes: Int, isCheckpointing: Bool) throws(StoreFailure) {
        areComplete = false
        let size = try database.current().st_size
        if let databaseSize, !isCheckpointing, size != databaseSize { throw database.lost("was overwritten") }
        databaseSize = isCheckpointing ? nil : size
        guard try log.current().st_size >= logBytes else { throw log.lost("was truncated") }
        let indexBytes = try index.current().st_size
        guard indexBytes >= indexSize else { throw index.lost("was truncated") }
        indexSize = indexBytes
        areComplete = true
    }

    /// Notes that a checkpoint may have changed the size of the database.
    mutating func noteCheckpoint() { databaseSize = nil }

    /// Checks whether a new store may be written.
    ///
    /// - Throws: if the directory is gone, or may be the empty mount point of a disk that is not mounted.
    func checkPlace() throws(StoreFailure) {
        guard let place = FileIdentity.status(of: directory, followingLinks: true) else {
            throw StoreFailure(reason: "the directory \(directory) was removed or renamed", hint: .makeDirectory)
        }
        guard place.st_dev == database.status.st_dev else {
            throw StoreFailure(reason: "the file system of \(directory) was unmounted", hint: .mount)
        }
        guard FileIdentity.status(of: database.path).map({ $0.st_mode & S_IFMT != S_IFLNK }) ?? true else {
            throw StoreFailure(reason: "\(database.path) is a link, and its target was lost", hint: .restoreTarget)
        }
    }
}
