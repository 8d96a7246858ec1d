import CSQLite
import CountdownCore
import Glibc

/// Where the store is and how it is opened, at the start and if it could not be opened then.
struct StoreLocation {
    /// Nil if no home directory is known.
    let directory: String?
    /// Another directory in which a store may have been left; nil if none is searched.
    var legacyDirectory: String? = nil
    let durability: SQLiteStore.Durability
    let limits: Limits
    let log: Log

    /// The path of the database.
    var path: String? { directory.map { "\($0)/countdowns.db" } }

    func open(at now: Now) throws(OpenError) -> OpenedStore {
        guard let directory, let path else {
            throw .unavailable(StoreFailure(reason: "there is no home directory: give a --state-directory", hint: nil))
        }
        let held = try StateDirectory(path: directory)
        let file = StoreFile(
            path: path,
            durability: durability,
            recovery: Recovery(limits: limits, now: now, bootID: BootIdentity.current),
            log: log
        )
        if let legacyDirectory {
            try LegacyStateDirectory(directory: legacyDirectory, log: log).moveStore(to: held, as: file)
        }
        return try file.open(in: held)
    }
}

/// The directory of the store, with the lock that excludes a second daemon.
struct StateDirectory: ~Copyable {
    let path: String
    private let lock: Descriptor
    private let lockFile: FileIdentity?

    /// Whether the lock still excludes other daemons: whether the locked file still has its name.
    var isLocked: Bool { lockFile != nil && FileIdentity(of: "\(path)/lock") == lockFile }

    /// Creates the directory if it is missing, accessible only to its user, and locks it.
    init(path: String) throws(OpenError) {
        self.path = path
        lock = try Self.takeLock(in: path)
        lockFile = FileIdentity(of: lock.number)
    }

    private static func takeLock(in path: String) throws(OpenError) -> Descriptor {
        let holder: String
        do throws(SystemFailure) {
            try makeDirectory(path)
            let file = unsafe open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            let lock = try Descriptor(owning: file, of: "open lock")
            if flock(lock.number, LOCK_EX | LOCK_NB) == 0 {
                writeHolder(lock.number)
                return lock
            }
            guard errno == EWOULDBLOCK else { throw SystemFailure("flock") }
            holder = readHolder(lock.number)
        } catch {
            throw .unavailable(StoreFailure(error, of: path))
        }
        throw .held(path: path, holder: holder)
    }

    /// Creates a directory and its parents.
    private static func makeDirectory(_ path: String) throws(SystemFailure) {
        var prefix = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            prefix += (prefix.isEmpty || prefix.hasSuffix("/") ? "" : "/") + part
            if unsafe mkdir(prefix, 0o700) != 0, errno != EEXIST, errno != EISDIR {
                let failure = SystemFailure("mkdir")
                guard FileIdentity(of: prefix) != nil else { throw failure }
            }
        }
    }

    // MARK: The holder's name

    private static func writeHolder(_ lock: Int32) {
        let holder = "process \(getpid()) on \(hostName())\n"
        guard ftruncate(lock, 0) == 0 else { return }
        unsafe _ = Array(holder.utf8).withUnsafeBytes { unsafe pwrite(lock, $0.baseAddress, $0.count, 0) }
    }

    private static func readHolder(_ lock: Int32) -> String {
        let holder = unsafe String(unsafeUninitializedCapacity: 256) {
            unsafe max(0, pread(lock, $0.baseAddress, $0.count, 0))
        }
        return holder.split(separator: "\n").first.map(String.init) ?? "an unknown process"
    }

    private static func hostName() -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "an unknown host" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension StateDirectory {
    /// The path of the directory: the option, else the directory that systemd has made, else the one of the XDG Base
    /// Directory Specification.
    ///
    /// - Parameters:
    ///   - option: the value of `--state-directory`.
    ///   - environment: returns the value of a variable; nil if it is not set or empty.
    /// - Returns: nil if there is no home directory either.
    static func path(option: String?, environment: (String) -> String?) -> String? {
        // systemd separates several directories by colons.
        let given = environment("STATE_DIRECTORY").flatMap { $0.split(separator: ":").first.map(String.init) }
        let home = environment("XDG_STATE_HOME") ?? environment("HOME").map { "\($0)/.local/state" }
        return option ?? given ?? home.map { "\($0)/countdownd" }
    }
}

/// The state directory of another version of systemd.
///
/// For a user, `StateDirectory=` is in `~/.config` before systemd 254 and in `~/.local/state` since, where a daemon that is
/// started by hand keeps its store, too. A store that was left in the other directory is moved to the one of this daemon. If
/// both have countdowns, both are logged and nothing is moved.
struct LegacyStateDirectory {
    /// The directory, which may contain a store.
    let directory: String
    let log: Log

    private var store: String { "\(directory)/countdowns.db" }

    /// Moves the store that was left here, unless a daemon uses it.
    ///
    /// If this is interrupted at any point, one of the two directories has the complete store.
    /// - Parameters:
    ///   - held: the directory to move it to; no store is open there.
    ///   - file: the path of the store in that directory.
    /// - Throws: if the store cannot be moved now, but perhaps later. A permanent failure is only logged.
    func moveStore(to held: borrowing StateDirectory, as file: StoreFile) throws(OpenError) {
        guard FileIdentity.status(of: store) != nil else { return }
        // A link from one to the other, made by a person or by systemd, is a way to have one store in both.
        guard FileIdentity(of: "\(directory)/.") != FileIdentity(of: "\(held.path)/.") else { return }
        let own = file.path
        guard file.holdsNothing() else {
            let advice = "to use it instead, stop countdownd and move \(own) away"
            let sentence = "there is a second store, \(store): \(own) is used, and it does not change; \(advice)"
            return tell(.warning, of: own, sentence)
        }
        let lock: StateDirectory
        do throws(OpenError) {
            lock = try StateDirectory(path: directory)
        } catch {
            guard case .held(_, let holder) = error else {
                return leave(because: StoreFailure(error).reason, using: own)
            }
            let sentence = "\(store) is held by another countdownd (\(holder)); \(own) is used"
            return tell(.warning, of: own, sentence)
        }
        try move(to: own, in: held.path, holding: lock)
    }

    private func move(
        to own: String,
        in directory: String,
        holding lock: borrowing StateDirectory
    ) throws(OpenError) {
        let copy = "\(own).part"
        do throws(SQLiteFailure) {
            try makeCopy(copy)
        } catch {
            unsafe unlink(copy)
            if error.isOfTheFile { return leave(because: "\(error)", using: own) }
            throw .unavailable(StoreFailure(error, of: "\(store), on its way to \(own)"))
        }
        do throws(SystemFailure) {
            try Self.flush(copy)
            guard unsafe rename(copy, own) == 0 else { throw SystemFailure("rename") }
            try Self.flush(directory)
        } catch {
            throw .unavailable(StoreFailure(error, of: own))
        }
        removeOriginal(of: own)
    }

    private func leave(because reason: String, using own: String) {
        tell(.error, of: own, "the store \(store) cannot be moved (\(reason)) and does not change; \(own) is used")
    }

    private func tell(_ level: Log.Level, of own: String, _ sentence: String) {
        log.write(level, sentence, fields: ["STORE": own, "OTHER_STORE": store])
    }

    /// Makes one file from the store and its log, even if another program reads them.
    private func makeCopy(_ path: String) throws(SQLiteFailure) {
        // Left by an attempt that was interrupted.
        unsafe unlink(path)
        let database = try Database(path: store, busyMilliseconds: Database.busyMilliseconds)
        // If it cannot be read, it stays as it is.
        database.keepLogOnClose(true)
        let copying = try database.prepare("VACUUM INTO ?")
        copying.bind(path, at: 1)
        try copying.run()
    }

    private func removeOriginal(of own: String) {
        for file in [store, "\(store)-wal", "\(store)-shm"] where unsafe unlink(file) != 0 && errno != ENOENT {
            let failure = SystemFailure("unlink")
            return tell(.warning, of: own, "the store \(store) was copied to \(own), and cannot be removed: \(failure)")
        }
        tell(.notice, of: own, "the store \(store) was moved to \(own)")
    }

    /// Syncs a file, or the names in a directory.
    private static func flush(_ path: String) throws(SystemFailure) {
        let file = try Descriptor(owning: unsafe open(path, O_RDONLY | O_CLOEXEC), of: "open")
        guard fsync(file.number) == 0 else { throw SystemFailure("fsync") }
    }
}

extension SQLiteFailure {
    /// Whether the file is corrupt or not accessible, so that a retry would fail again.
    fileprivate var isOfTheFile: Bool {
        isOfContents || [SQLITE_READONLY, SQLITE_PERM].contains(code & 0xff)
    }
}

extension StateDirectory {
    /// The other directory in which a store of this user may have been left.
    ///
    /// - Parameters:
    ///   - path: the state directory, if `--state-directory` is not given.
    ///   - environment: returns the value of a variable; nil if it is not set or empty.
    /// - Returns: nil if the state directory is neither of systemd's two, such as that of another unit.
    static func legacyDirectory(than path: String, environment: (String) -> String?) -> String? {
        let home = environment("HOME")
        let parents = [("XDG_CONFIG_HOME", ".config"), ("XDG_STATE_HOME", ".local/state")]
        let places = parents.compactMap { variable, name in
            (environment(variable) ?? home.map { "\($0)/\(name)" }).map { "\($0)/countdownd" }
        }
        guard places.count == 2, let own = places.firstIndex(where: { isSame($0, path) }) else { return nil }
        let other = places[1 - own]
        return isSame(other, path) ? nil : other
    }

    /// Whether two paths are equal except for slashes.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        one.split(separator: "/") == other.split(separator: "/")
    }
}

/// The identity of a boot: a time of CLOCK_BOOTTIME means something only within one.
enum BootIdentity {
    /// The identity of this boot; empty if the kernel does not tell it.
    ///
    /// In a time namespace CLOCK_BOOTTIME can have an offset, so that stored times mean something else than outside of it,
    /// although the boot is the same. So the offset is a part of the identity.
    static var current: String {
        text(
            bootID: text(of: "/proc/sys/kernel/random/boot_id"),
            timeOffsets: text(of: "/proc/self/timens_offsets")
        )
    }

    /// - Parameters:
    ///   - bootID: random(4)'s text for this boot; empty if it is not known.
    ///   - timeOffsets: time_namespaces(7)'s lines for the offsets of the clocks; empty if there are no time namespaces.
    /// - Returns: empty if the kernel's text for the boot is.
    static func text(bootID: String, timeOffsets: String) -> String {
        guard let boot = bootID.split(separator: "\n").first.map(String.init) else { return "" }
        let offset = timeOffsets.split(separator: "\n")
            .map { $0.split(separator: " ") }
            .first { $0.first == "boottime" }?
            .dropFirst()
            .joined(separator: " ")
        guard let offset, offset != "0 0" else { return boot }
        return "\(boot) with CLOCK_BOOTTIME moved by \(offset) s ns"
    }

    private static func text(of path: String) -> String {
        guard let file = try? Descriptor(owning: unsafe open(path, O_RDONLY | O_CLOEXEC), of: "open") else { return "" }
        return unsafe String(unsafeUninitializedCapacity: 256) {
            unsafe max(0, read(file.number, $0.baseAddress, $0.count))
        }
    }
}
