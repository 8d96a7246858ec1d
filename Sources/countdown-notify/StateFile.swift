import Glibc
import System

/// How far the ends of countdowns have been delivered to the desktop.
struct DeliveryState: Equatable {
    /// The revision up to which everything has been delivered. The next watch resumes after it.
    let revision: Int64
    /// The revision of the last end that was delivered, or the revision at which delivery began. It tells which ends are
    /// new if the daemon cannot resume after `revision`: a daemon that cannot open its store counts from a revision of its
    /// own, later than any in the store.
    let lastEnd: Int64
}

/// As text in one line: both revisions.
extension DeliveryState: LosslessStringConvertible {
    init?(_ description: String) {
        let words = description.split(separator: " ", omittingEmptySubsequences: false)
        // The daemon refuses negative revisions, so a file with one would end the program at every start.
        guard words.count == 2, let revision = Int64(words[0]), let lastEnd = Int64(words[1]), revision >= 0,
            lastEnd >= 0
        else { return nil }
        self.init(revision: revision, lastEnd: lastEnd)
    }

    var description: String { "\(revision) \(lastEnd)" }
}

/// The file with the revisions that were delivered, in a directory that only one process uses at a time.
struct StateFile: ~Copyable {
    /// The file exists and its content is of no use.
    struct Unreadable: Error {
        let sentence: String
    }

    private let directory: StateDirectory

    private var path: String { "\(directory.path)/delivered" }

    /// Makes the directory for its user alone if it is missing, and locks it as long as this value lives.
    init(in directory: String) throws(Exit) {
        do {
            self.directory = try StateDirectory(path: directory)
        } catch {
            throw Exit(error)
        }
    }

    /// The path of the state directory.
    static func directory(option: String?, environment: (String) -> String? = Environment.value) throws(Exit) -> String
    {
        if let path = StateDirectory.path(of: "countdown-notify", option: option, environment: environment) {
            return path
        }
        throw Exit(EX_USAGE, "there is no home directory for the state: use --state-directory")
    }

    /// Reads the revisions that were delivered; nil if the file does not exist.
    func read() throws(Unreadable) -> DeliveryState? {
        let line: String
        do {
            guard let text = try text() else { return nil }
            line = text
        } catch {
            throw Unreadable(sentence: "\(path): \(error)")
        }
        guard line.hasSuffix("\n"), let state = DeliveryState(String(line.dropLast())) else {
            throw Unreadable(sentence: "\(path) does not contain two revisions")
        }
        return state
    }

    /// The beginning of the file; nil if it does not exist.
    private func text() throws(SystemFailure) -> String? {
        guard unsafe access(path, F_OK) == 0 || errno != ENOENT else { return nil }
        let file = try Self.open(path, O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe Glibc.read(file.number, &bytes, bytes.count)
        guard count >= 0 else { throw SystemFailure("read") }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Replaces the content. If the machine stops meanwhile, the file has either the old or the new content.
    func write(_ state: DeliveryState) throws(SystemFailure) {
        let new = "\(path).new"
        let file = try Self.open(new, O_WRONLY | O_CREAT | O_TRUNC)
        let line = Array("\(state)\n".utf8)
        guard unsafe Glibc.write(file.number, line, line.count) == line.count else { throw SystemFailure("write") }
        guard fsync(file.number) == 0 else { throw SystemFailure("fsync") }
        guard unsafe rename(new, path) == 0 else { throw SystemFailure("rename") }
    }

    private static func open(_ path: String, _ flags: Int32) throws(SystemFailure) -> Descriptor {
        try Descriptor(owning: unsafe Glibc.open(path, flags | O_CLOEXEC, 0o600), of: "open")
    }
}
