import Glibc
import IPC

/// The file that remembers what has been told, in a directory that is one process's at a time.
struct StateFile {
    private let directory: String

    private var path: String { "\(directory)/told" }

    /// Makes the directory where it is missing, for its user alone, and keeps others out of it as long as this process
    /// lives.
    init(in directory: String) throws(Exit) {
        self.directory = directory
        do throws(Errno) {
            try Self.make(directory)
            let lock = try Self.opened("\(directory)/lock", O_RDWR | O_CREAT)
            guard flock(lock, LOCK_EX | LOCK_NB) != 0 else { return }
            guard errno == EWOULDBLOCK else { throw Errno(code: errno) }
        } catch {
            throw Exit(EX_CANTCREAT, "\(directory): \(systemMessage(error.code)); name another --state-directory")
        }
        throw Exit(
            EX_UNAVAILABLE,
            "another countdown-notify tells from \(directory); a second one needs a --state-directory of its own"
        )
    }

    /// Where the directory is: what the option says, else where systemd has made one, else where the XDG Base Directory
    /// Specification has the state of programs.
    static func directory(option: String?, environment: (String) -> String? = Environment.value) throws(Exit) -> String
    {
        if let option { return option }
        // systemd names several directories with colons between them.
        if let given = environment("STATE_DIRECTORY")?.split(separator: ":").first { return String(given) }
        guard let home = environment("XDG_STATE_HOME") ?? environment("HOME").map({ "\($0)/.local/state" }) else {
            throw Exit(EX_USAGE, "there is no home to remember in what was told: give a --state-directory")
        }
        return "\(home)/countdown-notify"
    }

    /// What was told; nil where nothing ever was.
    func read() throws(Unreadable) -> DeliveryState? {
        let line: String
        do {
            guard let text = try text() else { return nil }
            line = text
        } catch {
            throw Unreadable(sentence: "\(path): \(systemMessage(error.code))")
        }
        guard line.hasSuffix("\n"), let told = DeliveryState(String(line.dropLast())) else {
            throw Unreadable(sentence: "\(path) does not hold two revisions")
        }
        return told
    }

    /// The beginning of the file; nil where it is missing.
    private func text() throws(Errno) -> String? {
        guard unsafe access(path, F_OK) == 0 || errno != ENOENT else { return nil }
        let file = try Self.opened(path, O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe Glibc.read(file, &bytes, bytes.count)
        guard count >= 0 else { throw Errno(code: errno) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Writes what was told. The file holds either this or what was there before, whatever happens meanwhile.
    func write(_ told: DeliveryState) throws(Errno) {
        let new = "\(path).new"
        let file = try Self.opened(new, O_WRONLY | O_CREAT | O_TRUNC)
        defer { close(file) }
        let line = Array("\(told)\n".utf8)
        guard unsafe Glibc.write(file, line, line.count) == line.count, fsync(file) == 0,
            unsafe rename(new, path) == 0
        else { throw Errno(code: errno) }
    }

    /// The file is there and of no use.
    struct Unreadable: Error {
        let sentence: String
    }

    private static func opened(_ path: String, _ flags: Int32) throws(Errno) -> Int32 {
        let file = unsafe open(path, flags | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Errno(code: errno) }
        return file
    }

    /// Makes a directory and those above it.
    private static func make(_ path: String) throws(Errno) {
        if let status = try? FileStatus.read(path) {
            guard status.isDirectory else { throw Errno(code: ENOTDIR) }
            return
        }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try make(String(path[..<slash])) }
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Errno(code: errno) }
    }
}

/// How far the daemon's history has been told.
struct DeliveryState: Equatable {
    /// The revision up to which all has been told: what the next watch goes on from.
    let all: Int64
    /// The revision of the last ending that was told, or where telling began: what was told, where the daemon cannot go on
    /// from there. One whose store cannot be opened counts from a revision of its own, which is later than any that it
    /// has once it can.
    let ending: Int64
}

/// As text, in a line of its own.
extension DeliveryState: LosslessStringConvertible {
    init?(_ description: String) {
        let words = description.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, let all = Int64(words[0]), let ending = Int64(words[1]),
            all >= 0, ending >= 0
        else { return nil }
        self.init(all: all, ending: ending)
    }

    var description: String { "\(all) \(ending)" }
}
