import CountdownCore

/// Where the store is, and how it is opened: at the start, and again where it could not be opened then.
struct StoreOpening {
    enum Failure: Error {
        /// A living daemon has the directory.
        case held(directory: String, holder: String)
        case failed(StoreFailure)
    }

    /// Nil where nothing says where it would be.
    let directory: String?
    /// Where a store may be left that belongs into the directory; nil where nowhere is looked.
    var otherPlace: String? = nil
    let durability: SQLiteStore.Durability
    let policy: Policy
    let log: Log

    /// Of the database.
    var path: String? { directory.map { "\($0)/countdowns.db" } }

    func open(at now: Now) throws(Failure) -> OpenedStore {
        guard let directory, let path else {
            throw .failed(StoreFailure(reason: "there is no home directory: give a --state-directory", remedy: nil))
        }
        let held: StateDirectory
        do throws(StateDirectory.Failure) {
            held = try StateDirectory(path: directory)
        } catch {
            switch error {
            case .held(let directory, let holder): throw .held(directory: directory, holder: holder)
            case .unusable(let directory, let failure): throw .failed(StoreFailure(failure, of: directory))
            }
        }
        let file = StoreFile(
            path: path,
            durability: durability,
            loading: Loading(policy: policy, now: now, boot: Boot.current),
            log: log
        )
        do throws(StoreFailure) {
            if let otherPlace { try OtherPlace(directory: otherPlace, log: log).moveStore(to: held, as: file) }
            return try file.open(in: held)
        } catch {
            throw .failed(error)
        }
    }
}
