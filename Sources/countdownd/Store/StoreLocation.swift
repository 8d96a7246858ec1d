import CountdownCore
import Glibc
import System

/// The place of the store and the way to open it: at the start, and again if that failed.
struct StoreLocation {
    /// Nil if no home directory is known.
    let directory: String?
    let durability: Durability
    let limits: Limits
    /// Whether the stored clock offset belongs to a fleet's engine: setting the system clock does not change it.
    var followsEngine = false
    let log: Log

    /// The path of the log.
    var path: String? { directory.map { "\($0)/\(StoreFolder.name)" } }

    var thresholds = StoreThresholds()

    /// Opens the log and reads it. If it is missing, it is made; if it cannot be read, it is put aside, and a new one is made.
    func open(at now: Now, bootID: String = BootIdentity.current) throws(OpenError) -> OpenedStore {
        guard let directory, let path else {
            throw .unavailable(StoreFailure(reason: "there is no home directory: give a --state-directory", hint: nil))
        }
        let held = try StateDirectory.ofStore(at: directory)
        try finishRewrite(in: directory, at: now)
        var folder = try folder(in: directory)
        let recovery = Recovery(
            limits: limits,
            now: now,
            bootID: bootID,
            durability: durability,
            followsEngine: followsEngine
        )
        let contents: LogContents
        do {
            contents = try recovery.load(folder)
        } catch let corruption as Corruption {
            try putAside(corruption, in: directory, at: now)
            folder = try self.folder(in: directory)
            contents = try attempt(path) { try recovery.load(folder) }
        } catch {
            throw Self.unavailable(error, path)
        }
        report(contents, path)
        let store = LogStore(
            contents,
            in: folder,
            held,
            durability: durability,
            thresholds: thresholds,
            log: log,
            at: now
        )
        return OpenedStore(
            store: store,
            timetable: contents.timetable,
            stepRevision: contents.state.stepRevision,
            offset: contents.offset,
            fleet: contents.fleet
        )
    }

    private func attempt<Result: ~Copyable>(_ path: String, _ body: () throws -> Result) throws(OpenError) -> Result {
        do {
            return try body()
        } catch {
            throw Self.unavailable(error, path)
        }
    }

    private static func unavailable(_ error: any Error, _ path: String) -> OpenError {
        switch error {
        case let error as OpenError: error
        case let failure as SystemFailure: .unavailable(StoreFailure(failure, of: path))
        case let corruption as Corruption: .unavailable(StoreFailure(reason: "\(path): \(corruption.what)"))
        default: .unavailable(StoreFailure(reason: "\(path): \(error)"))
        }
    }

    /// Opens the folder of the log, with a lock on each of its files, and makes it if it is missing.
    private func folder(in directory: String) throws(OpenError) -> StoreFolder {
        let path = "\(directory)/\(StoreFolder.name)"
        if FileIdentity(of: path) == nil {
            try refuseDatabase(in: directory)
            guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
                throw .unavailable(StoreFailure(SystemFailure("mkdir"), of: path))
            }
            // The state directory may be new, too.
            try attempt(path) {
                try StoredText.synchronize(directory)
                try StoredText.synchronize("\(directory)/..")
            }
        }
        if let status = FileIdentity.status(of: path), status.st_mode & S_IFMT != S_IFDIR {
            throw .unavailable(
                StoreFailure(reason: "\(path): it is \(Self.kind(of: status.st_mode)), not a folder: move it away")
            )
        }
        let folder = try StoreFolder(in: directory)
        let names = try attempt(path) { try folder.names() }
        try folder.lock(names, synchronously: durability == .powerLoss)
        return folder
    }

    private static func kind(of mode: mode_t) -> String {
        switch mode & S_IFMT {
        case S_IFREG: "a file"
        case S_IFLNK: "a link"
        case S_IFIFO: "a named pipe"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }

    /// Versions before the first release kept a database.
    private func refuseDatabase(in directory: String) throws(OpenError) {
        let database = "\(directory)/countdowns.db"
        guard FileIdentity(of: database) != nil else { return }
        let remedy = "to begin anew, mv \(database) \(database)-old"
        throw .unavailable(
            StoreFailure(
                reason: "\(database) is the store of an earlier version, which this one does not read: \(remedy)"
            )
        )
    }

    /// Finishes a new log that the last daemon wrote from memory, if it was killed meanwhile.
    private func finishRewrite(in directory: String, at now: Now) throws(OpenError) {
        guard StoreFolder.hasWholeRewrite(in: directory) else { return }
        let path = "\(directory)/\(StoreFolder.name)"
        try attempt(path) { _ = try StoreFolder.adoptRewritten(in: directory, at: now.wall) }
        log.write(.notice, "\(path) is the new log that the last countdownd has written from memory")
    }

    private func putAside(_ corruption: Corruption, in directory: String, at now: Now) throws(OpenError) {
        let path = "\(directory)/\(StoreFolder.name)"
        let place: String
        do throws(SystemFailure) {
            place = try StoreFolder.moveAside(in: directory, as: "unreadable", at: now.wall)
        } catch {
            throw .unavailable(StoreFailure(error, of: "\(path): \(corruption.what), and it cannot be moved aside"))
        }
        let advice = corruption.advice(path: path, place: place)
        log.write(
            .error,
            "\(path) cannot be read: \(corruption.what). It is kept as \(place), and a new log was begun; \(advice)"
        )
    }

    private func report(_ contents: borrowing LogContents, _ path: String) {
        for report in contents.reports { log.write(.error, "\(path): \(report)") }
        guard let first = contents.skipped.first else { return }
        let count = contents.skipped.count
        let what =
            count == 1
            ? "a malformed line is skipped and stays in the log"
            : "\(count) malformed lines are skipped and stay in the log; the first is"
        log.write(.error, "\(path): \(what): \(first.description)")
    }
}

extension StateDirectory {
    /// Makes the directory of the store if it is missing, and locks it.
    static func ofStore(at path: String) throws(OpenError) -> StateDirectory {
        do throws(StateDirectory.Unavailable) {
            return try StateDirectory(path: path)
        } catch {
            switch error {
            case .locked(let path, let holder): throw .held(path: path, holder: holder)
            case .foreign(let path, let fault):
                throw .unavailable(StoreFailure(reason: "\(path) \(fault)", hint: nil))
            case .unusable(let path, let failure): throw .unavailable(StoreFailure(failure, of: path))
            }
        }
    }
}
