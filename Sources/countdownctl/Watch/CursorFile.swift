import Glibc
import IPC
import System
import Text

/// A file that holds the revision from which `watch --exec` continues, as a number in one line. As long as the object lives, it
/// is locked against another watch, which would run the commands of the same ends.
final class CursorFile {
    let path: String
    /// Locked is a file beside it, because each write replaces the file itself.
    private let lock: FileLock

    /// Locks the file; if a link leads to it, the file itself, so that every path to it has the same lock.
    init(path: String) throws(CommandFailure) {
        let target = unsafe realpath(path, nil)
        defer { unsafe free(target) }
        let path = unsafe target.map { unsafe String(cString: $0) } ?? path
        self.path = path
        do throws(FileLock.Unavailable) {
            lock = try FileLock(path: "\(path).lock")
        } catch {
            switch error {
            case .held(let holder):
                throw CommandFailure(.tryLater, "--cursor-file \(quoted(path)) is in use by another watch: \(holder)")
            case .failed(let failure):
                throw CommandFailure(.notStored, "cannot lock --cursor-file \(quoted(path)): \(failure)")
            }
        }
    }

    /// The revision; nil if the file does not exist or is empty. Another content is a usage error.
    func read() throws(CommandFailure) -> Int64? {
        let text: String?
        do {
            text = try StoredText.read(path)
        } catch {
            throw .usage("cannot read --cursor-file \(quoted(path)): \(error)")
        }
        // After a power failure, some file systems keep the length of a file and not its content.
        guard let text, !text.unicodeScalars.allSatisfy({ $0 == "\n" || $0 == "\0" }) else { return nil }
        // The daemon refuses negative revisions.
        guard text.hasSuffix("\n"), let revision = Int64(text.dropLast()), revision >= 0 else {
            throw .usage("invalid --cursor-file \(quoted(path)): its content is not a revision in one line")
        }
        return revision
    }

    /// Replaces the revision. If the machine stops meanwhile, the file has either the old or the new one.
    func write(_ revision: Int64) throws(CommandFailure) {
        do {
            try StoredText.replace(path, with: "\(revision)\n")
        } catch {
            throw CommandFailure(.notStored, "cannot write --cursor-file \(quoted(path)): \(error)")
        }
    }
}

/// How far the commands of events have come: the newest revision up to which every event has been received, and every
/// command for one has exited.
struct HookCursor {
    /// The newest revision that was received; nil before the first `synced`.
    private(set) var received: Int64?
    /// The commands that have not exited, in the order of their events, each with the newest revision before its event.
    private var unfinished: [(command: Int, before: Int64?)] = []
    private var count = 0

    /// Begins at a revision; nil for a watch that begins now.
    init(since: Int64?) { received = since }

    /// The revision from which another run continues; nil before the first `synced`, and before the commands for earlier events
    /// have exited.
    var revision: Int64? {
        guard let first = unfinished.first else { return received }
        return first.before
    }

    /// Takes an event for which no command runs, or whose command was added.
    mutating func receive(_ event: Event) {
        guard let revision = event.revision, received != nil || event.type == .synced else { return }
        received = max(received ?? revision, revision)
    }

    /// Adds the command of the event that is received next, and returns its number.
    mutating func addCommand() -> Int {
        count += 1
        unfinished.append((count, received))
        return count
    }

    /// Notes that a command has exited, or that it could not be started.
    mutating func finish(_ command: Int) { unfinished.removeAll { $0.command == command } }
}
