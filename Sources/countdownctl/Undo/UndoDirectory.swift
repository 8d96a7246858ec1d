import Glibc
import IPC
import System
import Text
import Varlink

/// The directory with a file for each change that will be undone. The sandbox of the daemon cannot write to it.
///
/// The process that works on a file locks it: `temporarily` until its command has exited, the service while it undoes the
/// change. Each write replaces the file by another one that is already locked.
struct UndoDirectory {
    let path: String
    private let identity: FileIdentity?

    /// Makes the directory, accessible only to its user, if it is missing.
    ///
    /// - Throws: that the directory is another user's, or that it cannot be made.
    init(at path: String) throws(CommandFailure) {
        self.path = path
        let status: FileStatus
        do {
            status = try StateDirectory.make(path)
        } catch {
            throw CommandFailure(.notStored, "cannot make \(PrintableText.escape(path)): \(error)")
        }
        if let fault = DirectoryFault(status, for: geteuid()) {
            let place = ShellWord.quote(path)
            let command = "chown -R \(geteuid()) \(place); chmod 700 \(place)"
            throw CommandFailure(.denied, "\(PrintableText.escape(path)) \(fault); as root: `\(command)`")
        }
        identity = FileIdentity(following: path)
    }

    /// The place of the directory, which need not exist. It does not depend on `XDG_STATE_HOME`, because the unit that watches it has
    /// the same place with every version of systemd.
    ///
    /// - Throws: that there is no home directory.
    static func place() throws(CommandFailure) -> String {
        guard let home = Environment.value(of: "HOME") else { throw CommandFailure(.unavailable, "HOME is not set") }
        return "\(home)/.local/state/countdown-undo"
    }

    /// The IDs and the contents of the files that are there, without making a directory.
    static func present() -> [(id: String, record: UndoRecord)] {
        guard let place = try? place(), FileIdentity(of: place) != nil else { return [] }
        return ((try? UndoDirectory(at: place).records()) ?? []).filter { $0.record.stage != .kept }
    }

    /// Whether it is still the directory that was opened: false if it was removed, also if another one was made in its place.
    var isInPlace: Bool { identity != nil && FileIdentity(following: path) == identity }

    /// The IDs of the files, the newest first.
    func identifiers() throws(CommandFailure) -> [String] {
        try names().filter(UndoFile.isIdentifier).sorted(by: >)
    }

    /// Removes the files that a process was writing when it was killed, unless another process works on them or makes a file.
    func removeRemains() throws(CommandFailure) {
        let remains = try names().filter { $0.hasSuffix(StoredText.newSuffix) }
        guard !remains.isEmpty, let lock = try lock(LOCK_EX | LOCK_NB) else { return }
        for name in remains {
            switch try open(String(name.dropLast(StoredText.newSuffix.count))) {
            case .opened(let file): withExtendedLifetime(file) { _ = unsafe unlink("\(path)/\(name)") }
            case .gone: unsafe unlink("\(path)/\(name)")
            case .locked, .foreign: break
            }
        }
        withExtendedLifetime(lock) {}
    }

    /// Locks the directory for the making of a file, and waits for the lock: a process holds it for one call of the daemon.
    func lock() throws(CommandFailure) -> Descriptor {
        while true {
            if let descriptor = try lock(LOCK_EX) { return descriptor }
        }
    }

    private func lock(_ operation: Int32) throws(CommandFailure) -> Descriptor? {
        do throws(SystemFailure) {
            let number = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            let descriptor = try Descriptor(owning: number, of: "open")
            if flock(descriptor.number, operation) == 0 { return descriptor }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw SystemFailure("flock") }
            return nil
        } catch {
            throw failure(error)
        }
    }

    /// Whether it has no file.
    func isEmpty() throws(CommandFailure) -> Bool { try names().isEmpty }

    /// Reports each change of a file.
    func watch() -> UndoWatch { UndoWatch(of: path) }

    /// A file of the service for this directory in the runtime directory, which can be written although the home directory cannot,
    /// and which no other machine shares.
    func runtimeFile(_ suffix: String) throws(CommandFailure) -> String {
        do {
            return "\(try Address.runtimeDirectory())/countdown-undo-\(identity?.inode ?? 0).\(suffix)"
        } catch {
            throw CommandFailure(.unavailable, "\(error)")
        }
    }

    /// The lock of the service.
    ///
    /// - Parameter patience: how long it waits for the lock, in microseconds.
    /// - Returns: the lock.
    /// - Throws: that another service runs.
    func lockService(patience: Int64) throws(CommandFailure) -> FileLock {
        let end = MonotonicDeadline.after(microseconds: patience)
        let lock = try runtimeFile("lock")
        while true {
            do {
                return try FileLock(path: lock)
            } catch {
                switch error {
                case .failed(let error): throw failure(error)
                case .held(let holder) where end.hasPassed:
                    throw CommandFailure(.tryLater, "countdown-undo runs already: \(holder)")
                case .held: PollSet.pause(microseconds: 10_000)
                }
            }
        }
    }

    /// Opens and locks the file with an ID.
    func open(_ id: String) throws(CommandFailure) -> UndoFile.Opening {
        do {
            return try UndoFile.open(id, in: path)
        } catch {
            throw failure(error)
        }
    }

    /// The ID and the content of this machine's file of a name that is not kept; nil if there is none.
    func find(_ name: String) throws(CommandFailure) -> (id: String, record: UndoRecord)? {
        let here = Machine()
        return try records().first { file in
            file.record.name.hasSameBytes(as: name) && file.record.stage != .kept && here.isOwner(of: file.record)
        }
    }

    /// The files that can be read, the newest first.
    func records() throws(CommandFailure) -> [(id: String, record: UndoRecord)] {
        try identifiers().compactMap { id in
            guard let text = try? StoredText.read("\(path)/\(id)"), let record = try? UndoRecord(json: text.utf8) else {
                return nil
            }
            return (id, record)
        }
    }

    func failure(_ failure: SystemFailure) -> CommandFailure {
        CommandFailure(.notStored, "cannot use \(PrintableText.escape(path)): \(failure)")
    }

    private func names() throws(CommandFailure) -> [String] {
        do throws(SystemFailure) {
            return try FileStatus.names(in: path)
        } catch {
            throw failure(error)
        }
    }
}

/// The changes of the directory, as far as the system reports them: it may have no instance of inotify left.
final class UndoWatch {
    private var watch: FileWatch?

    fileprivate init(of path: String) {
        guard let watch = try? FileWatch(), (try? watch.add(namesIn: path)) != nil else { return }
        self.watch = .some(watch)
    }

    /// Readable when there are reports; nil if the system reports nothing.
    var descriptor: Int32? { watch?.descriptor }

    /// Whether something has been reported since the last call.
    func takeReports() -> Bool { watch?.takeReports() == true }
}

/// A file of the directory, locked as long as the object lives.
final class UndoFile {
    /// What came of opening a file.
    enum Opening {
        case opened(UndoFile)
        /// Another process works on it.
        case locked
        /// It was removed.
        case gone
        /// It has another format, or another owner.
        case foreign(String)
    }

    let id: String
    private(set) var record: UndoRecord
    /// The identity of its present content: each write makes another file.
    private(set) var content: FileIdentity?
    private let directory: String
    /// Nil once it is unlocked.
    private var descriptor: Descriptor?

    /// Makes a file.
    convenience init(_ record: UndoRecord, in directory: UndoDirectory) throws(CommandFailure) {
        let instant = String(WallClock.now)
        let zeros = String(repeating: "0", count: max(0, 20 - instant.count))
        let id = "\(zeros)\(instant)-\(hexadecimal(UInt64.random(in: .min ... .max), 16))"
        do {
            self.init(id, record, directory.path, try Self.write(record, id, directory.path))
        } catch {
            throw directory.failure(error)
        }
    }

    private init(_ id: String, _ record: UndoRecord, _ directory: String, _ descriptor: consuming Descriptor) {
        self.id = id
        self.record = record
        self.directory = directory
        content = FileIdentity(of: descriptor.number)
        self.descriptor = .some(descriptor)
    }

    /// Whether a name is the ID of a file: its instant in microseconds since 1970 in 20 digits, and 64 random bits.
    static func isIdentifier(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].count == 20 && parts[0].allSatisfy(\.isNumber)
            && parts[1].count == 16 && parts[1].allSatisfy(\.isHexDigit)
    }

    fileprivate static func open(_ id: String, in directory: String) throws(SystemFailure) -> Opening {
        let path = "\(directory)/\(id)"
        while true {
            var number = unsafe Glibc.open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
            // NFS locks only files that are open for writing; a read-only file system has none.
            if number < 0, errno == EROFS { number = unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) }
            if number < 0, errno == ENOENT { return .gone }
            let descriptor = try Descriptor(owning: number, of: "open")
            guard flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 else { return .locked }
            // Another process may have replaced or removed it before it was locked.
            guard let file = FileIdentity(of: descriptor.number), file == FileIdentity(of: path) else { continue }
            guard FileIdentity.status(of: path)?.st_uid == geteuid() else {
                return .foreign("it belongs to another user")
            }
            let text = try StoredText.read(path) ?? ""
            do {
                return .opened(UndoFile(id, try UndoRecord(json: text.utf8), directory, descriptor))
            } catch {
                return .foreign("its content is not known to this version: \(error)")
            }
        }
    }

    /// Changes the content. If the machine stops meanwhile, the file has either the old or the new one.
    func update(_ change: (inout UndoRecord) -> Void) throws(CommandFailure) {
        var record = record
        change(&record)
        do {
            let written = try Self.write(record, id, directory)
            content = FileIdentity(of: written.number)
            descriptor = .some(written)
            self.record = record
        } catch {
            throw CommandFailure(.notStored, "cannot write \(PrintableText.escape("\(directory)/\(id)")): \(error)")
        }
    }

    /// Lets other processes work on the file.
    func unlock() { descriptor = nil }

    /// Removes the file, because the change was undone or is kept.
    func remove() throws(CommandFailure) {
        do {
            guard unsafe unlink("\(directory)/\(id)") == 0 else { throw SystemFailure("unlink") }
            try StoredText.synchronize(directory)
        } catch {
            throw CommandFailure(.notStored, "cannot remove \(PrintableText.escape("\(directory)/\(id)")): \(error)")
        }
    }

    private static func write(
        _ record: UndoRecord,
        _ id: String,
        _ directory: String
    ) throws(SystemFailure) -> Descriptor {
        let text = String(decoding: JSONText.object(record), as: UTF8.self)
        let file = try StoredText.replace("\(directory)/\(id)", with: text, isLocked: true)
        try StoredText.synchronize(directory)
        return file
    }
}
