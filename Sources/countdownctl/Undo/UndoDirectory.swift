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

    /// Makes the directory, accessible only to its user, if it is missing. Its place does not depend on `XDG_STATE_HOME`, because
    /// the unit that watches it has the same place with every version of systemd.
    ///
    /// - Throws: that there is no home directory, that the directory is another user's, or that it cannot be made.
    init(environment: (String) -> String? = Environment.value) throws(CommandFailure) {
        guard let home = environment("HOME") else { throw CommandFailure(.unavailable, "HOME is not set") }
        path = Self.path(home)
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
    }

    /// The files that are there, without making a directory.
    static func presentRecords(environment: (String) -> String? = Environment.value) -> [UndoRecord] {
        guard let home = environment("HOME"), FileIdentity(of: path(home)) != nil else { return [] }
        return ((try? UndoDirectory(environment: environment).records()) ?? []).map(\.record)
    }

    private static func path(_ home: String) -> String { "\(home)/.local/state/countdown-undo" }

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
    func watch() throws(CommandFailure) -> FileWatch {
        do {
            let files = try FileWatch()
            try files.add(namesIn: path)
            return files
        } catch {
            throw failure(error)
        }
    }

    /// The lock of the service, outside of the directory, which is empty while there is nothing to undo.
    ///
    /// - Parameter patience: how long it waits for the lock, in microseconds.
    /// - Returns: the lock.
    /// - Throws: that another service runs.
    func lockService(patience: Int64) throws(CommandFailure) -> FileLock {
        let end = MonotonicDeadline.after(microseconds: patience)
        while true {
            do {
                return try FileLock(path: "\(path).lock")
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

    /// The ID and the content of the file of a name that is not kept; nil if there is none.
    func find(_ name: String) throws(CommandFailure) -> (id: String, record: UndoRecord)? {
        try records().first { $0.record.name == name && $0.record.stage != .kept }
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
        guard let folder = unsafe opendir(path) else { throw failure(SystemFailure("opendir")) }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: unsafe entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
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
            let number = unsafe Glibc.open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
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
