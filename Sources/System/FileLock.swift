import Glibc

/// A lock that one process at a time holds as long as the value lives. Its file names the process and the host.
public struct FileLock: ~Copyable {
    /// Why the lock cannot be taken.
    public enum Unavailable: Error {
        /// Another process holds it.
        case held(by: String)
        /// The file cannot be made, opened or locked.
        case failed(SystemFailure)
    }

    private let path: String
    private let descriptor: Descriptor
    private let file: FileIdentity?

    /// Whether the lock still keeps other processes out: false if another program has removed or replaced the file.
    public var isHeld: Bool { file != nil && FileIdentity(of: path) == file }

    /// Makes the file if it is missing, and locks it; a symbolic link is refused. It stays afterwards, because removing it would let
    /// two processes in. A file that cannot be written is locked as it is, and does not name the process.
    public init(path: String) throws(Unavailable) {
        self.path = path
        let holder: String
        do throws(SystemFailure) {
            var number = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if number < 0, [EROFS, EACCES, EPERM].contains(errno) {
                let code = errno
                number = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
                guard number >= 0 else { throw SystemFailure("open lock", code: code) }
            }
            let descriptor = try Descriptor(owning: number, of: "open lock")
            if flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 {
                Self.writeHolder(descriptor.number)
                file = FileIdentity(of: descriptor.number)
                self.descriptor = descriptor
                return
            }
            guard errno == EWOULDBLOCK else { throw SystemFailure("flock") }
            holder = Self.readHolder(descriptor.number)
        } catch {
            throw .failed(error)
        }
        throw .held(by: holder)
    }

    private static func writeHolder(_ lock: Int32) {
        let holder = "process \(getpid()) on \(hostName())\n"
        var status = stat()
        // If the file has a second name, a program may keep something else in it.
        guard unsafe fstat(lock, &status) == 0, status.st_nlink == 1, ftruncate(lock, 0) == 0 else { return }
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
