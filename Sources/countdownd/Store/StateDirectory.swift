import CSQLite
import CountdownCore
import Glibc

/// Where the store is and how it is opened, at the start and if it could not be opened then.
struct StoreLocation {
    /// Nil if no home directory is known.
    let directory: String?
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
