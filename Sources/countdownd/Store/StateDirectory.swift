import Glibc

/// The directory of the store, with the lock that keeps a second daemon out.
struct StateDirectory: ~Copyable {
    /// Why the directory cannot be had.
    enum Failure: Error {
        /// A living daemon has it; the holder as it wrote itself into the lock: its process and its host.
        case held(path: String, holder: String)
        case unusable(path: String, SystemFailure)
    }

    let path: String
    private let lock: Descriptor

    /// Makes the directory where it is missing, for its user alone, and locks it.
    init(path: String) throws(Failure) {
        self.path = path
        lock = try Self.takeLock(in: path)
    }

    private static func takeLock(in path: String) throws(Failure) -> Descriptor {
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
            throw .unusable(path: path, error)
        }
        throw .held(path: path, holder: holder)
    }

    /// Makes a directory and those above it.
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
    /// Where the directory is: what the option says, else where systemd has made one, else where the XDG Base Directory
    /// Specification has the state of programs.
    ///
    /// - Parameters:
    ///   - option: the value of `--state-directory`.
    ///   - environment: the value of a variable; nil where it is not set or empty.
    /// - Returns: its path, nil where there is no home directory either.
    static func path(option: String?, environment: (String) -> String?) -> String? {
        // systemd names several directories with colons between them.
        let given = environment("STATE_DIRECTORY").flatMap { $0.split(separator: ":").first.map(String.init) }
        let home = environment("XDG_STATE_HOME") ?? environment("HOME").map { "\($0)/.local/state" }
        return option ?? given ?? home.map { "\($0)/countdownd" }
    }
}
