import CSQLite
import Glibc

/// The other of the two places that a user's store can be in.
///
/// systemd has `StateDirectory=` of a user in `~/.config` before version 254 and in `~/.local/state` since, where a daemon
/// that is started by hand keeps it as well. So a store may have been left where this daemon does not look, and comes over
/// to where it does. Where both places have one, both are named, and nothing is moved.
struct OtherPlace {
    /// May hold a store.
    let directory: String
    let log: Log

    private var store: String { "\(directory)/countdowns.db" }

    /// Moves the store that was left here, if there is one and no daemon has it.
    ///
    /// At whatever point that is broken off, one of the two places has all of it.
    /// - Parameters:
    ///   - held: where it goes; no store is open there.
    ///   - file: the store's place in it.
    /// - Throws: where it cannot be moved now but may be later. What will not get better is logged alone.
    func moveStore(to held: borrowing StateDirectory, as file: StoreFile) throws(StoreFailure) {
        guard FileIdentity.status(of: store) != nil else { return }
        // A link from one to the other is a person's way, and systemd's, to have one store in both.
        guard FileIdentity(of: "\(directory)/.") != FileIdentity(of: "\(held.path)/.") else { return }
        let own = file.path
        guard file.holdsNothing() else {
            let advice = "to have its countdowns instead, stop countdownd and move \(own) away"
            let sentence = "there is a second store, \(store): \(own) is used, it is left alone; \(advice)"
            return tell(.warning, of: own, sentence)
        }
        let lock: StateDirectory
        do throws(StateDirectory.Failure) {
            lock = try StateDirectory(path: directory)
        } catch {
            switch error {
            case .unusable(_, let failure): return leave(because: "\(failure)", using: own)
            case .held(_, let holder):
                let sentence = "\(store) is left to the countdownd that has it (\(holder)); \(own) is used"
                return tell(.warning, of: own, sentence)
            }
        }
        try move(to: own, in: held.path, holding: lock)
    }

    private func move(
        to own: String,
        in directory: String,
        holding lock: borrowing StateDirectory
    ) throws(StoreFailure) {
        let copy = "\(own).part"
        do throws(SQLiteFailure) {
            try makeCopy(copy)
        } catch {
            unsafe unlink(copy)
            if error.isOfTheFile { return leave(because: "\(error)", using: own) }
            throw StoreFailure(error, of: "\(store), on its way to \(own)")
        }
        do throws(SystemFailure) {
            try Self.flush(copy)
            guard unsafe rename(copy, own) == 0 else { throw SystemFailure("rename") }
            try Self.flush(directory)
        } catch {
            throw StoreFailure(error, of: own)
        }
        removeOriginal(of: own)
    }

    private func leave(because reason: String, using own: String) {
        tell(.error, of: own, "the store \(store) cannot be moved (\(reason)) and is left alone; \(own) is used")
    }

    private func tell(_ level: Log.Level, of own: String, _ sentence: String) {
        log.write(level, sentence, fields: ["STORE": own, "OTHER_STORE": store])
    }

    /// One file with all that the store and its log hold, whoever reads in it meanwhile.
    private func makeCopy(_ path: String) throws(SQLiteFailure) {
        // Of an attempt that was broken off.
        unsafe unlink(path)
        let database = try Database(path: store, busyMilliseconds: Database.patience)
        // Where it cannot be read it stays there as it is.
        database.keepLogOnClose(true)
        let copying = try database.prepare("VACUUM INTO ?")
        copying.bind(path, at: 1)
        try copying.run()
    }

    private func removeOriginal(of own: String) {
        for file in [store, "\(store)-wal", "\(store)-shm"] where unsafe unlink(file) != 0 && errno != ENOENT {
            let failure = SystemFailure("unlink")
            return tell(.warning, of: own, "the store \(store) was copied to \(own), and cannot be removed: \(failure)")
        }
        tell(.notice, of: own, "the store \(store) was moved to \(own)")
    }

    /// Waits until a file, or the names in a directory, are on the disk.
    private static func flush(_ path: String) throws(SystemFailure) {
        let file = try Descriptor(owning: unsafe open(path, O_RDONLY | O_CLOEXEC), of: "open")
        guard fsync(file.number) == 0 else { throw SystemFailure("fsync") }
    }
}

extension SQLiteFailure {
    /// Whether the file is broken, or kept from us, and will be tomorrow.
    fileprivate var isOfTheFile: Bool {
        isOfContents || [SQLITE_READONLY, SQLITE_PERM].contains(code & 0xff)
    }
}

extension StateDirectory {
    /// The other place where a store of this user may have been left.
    ///
    /// - Parameters:
    ///   - path: where the directory is, not by `--state-directory`.
    ///   - environment: the value of a variable; nil where it is not set or empty.
    /// - Returns: its path; nil where the directory is in neither of systemd's places, as that of another unit.
    static func otherPlace(than path: String, environment: (String) -> String?) -> String? {
        let home = environment("HOME")
        let parents = [("XDG_CONFIG_HOME", ".config"), ("XDG_STATE_HOME", ".local/state")]
        let places = parents.compactMap { variable, name in
            (environment(variable) ?? home.map { "\($0)/\(name)" }).map { "\($0)/countdownd" }
        }
        guard places.count == 2, let own = places.firstIndex(where: { isSame($0, path) }) else { return nil }
        let other = places[1 - own]
        return isSame(other, path) ? nil : other
    }

    /// Whether two paths are written alike, but for slashes.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        one.split(separator: "/") == other.split(separator: "/")
    }
}
