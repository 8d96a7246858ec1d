import CLinux
import CountdownCore
import Glibc

/// How a database that cannot be read makes room for a new one: under a name with the date, unchanged.
extension DatabaseFiles {
    /// Renames the database, and those files with it that belong to it, as sqlite3 finds them by its name.
    ///
    /// At whatever point this is broken off, the database has its log beside it: that has both names for a moment. Where
    /// the database is a link, the link is renamed alone.
    /// - Parameter now: goes into the name.
    /// - Returns: the new path; that of the log where there is nothing else.
    /// - Throws: where it stays where it is.
    func moveAside(at now: WallInstant) throws(SystemFailure) -> String {
        let kept = DatabaseFiles(path: freePath(at: now))
        guard let status = FileIdentity.status(of: path) else {
            guard errno == ENOENT else { throw SystemFailure("stat") }
            try moveCompanions(to: kept)
            return kept.path(of: .log)
        }
        guard status.st_mode & S_IFMT != S_IFLNK else {
            try Self.rename(path, kept.path)
            return kept.path
        }
        linkCompanions(to: kept)
        do throws(SystemFailure) {
            try Self.rename(path, kept.path)
        } catch {
            for companion in Companion.allCases { unsafe unlink(kept.path(of: companion)) }
            throw error
        }
        try moveCompanions(to: kept)
        return kept.path
    }

    private func freePath(at now: WallInstant) -> String {
        let stem = path.hasSuffix(".db") ? String(path.dropLast(3)) : path
        let stamp = unsafe String(unsafeUninitializedCapacity: Int(LINUX_STAMP_LENGTH)) {
            unsafe Int(linux_utc_stamp(time_t(now.microseconds / 1_000_000), $0.baseAddress))
        }
        var files = DatabaseFiles(path: "\(stem)-unreadable-\(stamp).db")
        var number = 1
        while files.hasName {
            number += 1
            files = DatabaseFiles(path: "\(stem)-unreadable-\(stamp)-\(number).db")
        }
        return files.path
    }

    /// Whether any of the names is taken.
    private var hasName: Bool {
        ([path] + Companion.allCases.map(path(of:))).contains { FileIdentity.status(of: $0) != nil }
    }

    /// Gives those files that hold something their new names besides the old ones, where the file system can.
    private func linkCompanions(to kept: DatabaseFiles) {
        for companion in [Companion.log, .journal] { unsafe link(path(of: companion), kept.path(of: companion)) }
    }

    private func moveCompanions(to kept: DatabaseFiles) throws(SystemFailure) {
        for companion in Companion.allCases {
            let (old, new) = (path(of: companion), kept.path(of: companion))
            guard let identity = FileIdentity(of: old) else {
                if errno == ENOENT { continue }
                throw SystemFailure("stat")
            }
            if FileIdentity(of: new) == identity {
                unsafe unlink(old)
            } else {
                try Self.rename(old, new)
            }
        }
    }

    private static func rename(_ old: String, _ new: String) throws(SystemFailure) {
        guard unsafe Glibc.rename(old, new) == 0 else { throw SystemFailure("rename") }
    }
}
