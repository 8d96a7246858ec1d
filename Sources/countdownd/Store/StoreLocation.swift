import CountdownCore
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

    /// The path of the database.
    var path: String? { directory.map { "\($0)/countdowns.db" } }

    func open(at now: Now) throws(OpenError) -> OpenedStore {
        guard let directory, let path else {
            throw .unavailable(StoreFailure(reason: "there is no home directory: give a --state-directory", hint: nil))
        }
        let held = try StateDirectory.ofStore(at: directory)
        let file = StoreFile(
            path: path,
            durability: durability,
            recovery: Recovery(
                limits: limits,
                now: now,
                bootID: BootIdentity.current,
                followsEngine: followsEngine
            ),
            log: log
        )
        return try file.open(in: held)
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

extension StoreFile {
    /// Opens the file and reads it.
    ///
    /// - Parameter directory: of the file; stays locked as long as the store is open.
    /// - Returns: the store and its contents.
    /// - Throws: if the file can be neither opened nor quarantined now.
    func open(in directory: consuming StateDirectory) throws(OpenError) -> OpenedStore {
        try finishRewrite()
        let opened = try openOrBeginAnew()
        let (stepRevision, offset) = (opened.result.stepRevision, opened.result.offset)
        do throws(StoreFailure) {
            let store = try SQLiteStore(
                opened.database,
                opened.lock,
                loaded: opened.result,
                of: self,
                in: directory
            )
            return OpenedStore(
                store: store,
                timetable: opened.result.timetable,
                stepRevision: stepRevision,
                offset: offset
            )
        } catch {
            throw .unavailable(error)
        }
    }
}
