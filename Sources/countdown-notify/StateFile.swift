import Glibc
import System

/// How far the ends of countdowns have been delivered to the desktop.
struct DeliveryState: Equatable {
    /// The revision up to which everything has been delivered. The next watch resumes after it.
    let revision: Int64
    /// The revision of the last end that was delivered, or the revision at which delivery began. It shows which ends are
    /// new if the daemon cannot resume after `revision`: a daemon that cannot open its store counts from a revision of its
    /// own, later than any in the store.
    let lastEnd: Int64
    /// The revision of the last end that has rung, or the one at which delivery began. Up to it nothing rings again after a
    /// restart.
    let lastRing: Int64
}

/// As text in one line: the three revisions. Files of earlier versions have only the first two.
extension DeliveryState: LosslessStringConvertible {
    init?(_ description: String) {
        let words = description.split(separator: " ", omittingEmptySubsequences: false)
        // The daemon refuses negative revisions, so a file with one would end the program at every start.
        let numbers = words.compactMap { Int64($0) }.filter { $0 >= 0 }
        guard (2...3).contains(words.count), numbers.count == words.count else { return nil }
        self.init(revision: numbers[0], lastEnd: numbers[1], lastRing: numbers.last ?? 0)
    }

    var description: String { "\(revision) \(lastEnd) \(lastRing)" }
}

/// The file with the revisions that were delivered, in a directory that only one process uses at a time.
struct StateFile: ~Copyable {
    /// The file exists and its content is of no use.
    struct Unreadable: Error {
        let sentence: String
    }

    private let directory: StateDirectory
    /// The state that was reported last.
    private var report: (state: String, wakes: Bool)?

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
            guard let text = try StoredText.read(path) else { return nil }
            line = text
        } catch {
            throw Unreadable(sentence: "\(path): \(error)")
        }
        guard line.hasSuffix("\n"), let state = DeliveryState(String(line.dropLast())) else {
            throw Unreadable(sentence: "\(path) does not contain revisions")
        }
        return state
    }

    /// Reports the state of this process to other programs, if it is new.
    mutating func report(_ state: String, wakes: Bool) throws(SystemFailure) {
        if let report, report == (state, wakes) { return }
        try NotifierStatus.report(state, wakes: wakes, in: directory.path)
        report = (state, wakes)
    }

    /// Replaces the content. If the machine stops meanwhile, the file has either the old or the new content.
    func write(_ state: DeliveryState) throws(SystemFailure) {
        try StoredText.replace(path, with: "\(state)\n")
    }
}
