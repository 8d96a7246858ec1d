import Glibc

/// The file of a database and those that SQLite keeps beside it, as they are seen without SQLite, which changes what it
/// opens: it takes in what a log holds, and removes one that has no database.
struct DatabaseFiles {
    /// What SQLite appends to the name of a database for that of another file.
    enum Companion: String, CaseIterable {
        case log = "-wal"
        case journal = "-journal"
        /// The index of the log, which holds nothing that is not elsewhere.
        case index = "-shm"
    }

    /// Of the database; may be a link to it.
    let path: String

    func path(of companion: Companion) -> String { path + companion.rawValue }

    /// Looks what stands there.
    ///
    /// - Returns: how it begins; nil where it is missing or empty, and can be made.
    /// - Throws: where SQLite should not open it.
    func header() throws(Obstacle) -> DatabaseHeader? {
        guard try status(of: path, followingLinks: false) != nil else {
            guard try !holdsSomething(.log), try !holdsSomething(.journal) else { throw .unreadable(.logAlone) }
            return nil
        }
        guard let file = try status(of: path, followingLinks: true) else {
            throw unavailable("it is a link to a file that is missing: make that file, or remove the link")
        }
        guard file.st_mode & S_IFMT == S_IFREG else {
            throw unavailable("it is \(Self.kind(of: file.st_mode)), and should be a file: move it away")
        }
        let bytes = try firstBytes()
        let hasLog = try linkFollowed.holdsSomething(.log)
        do throws(Unreadable) {
            guard bytes.isEmpty else { return try DatabaseHeader(bytes, hasLog: hasLog) }
            guard hasLog else { return nil }
            throw .damaged("it is empty, though it has a log of changes")
        } catch {
            throw .unreadable(error)
        }
    }

    /// Nil where there is nothing; what cannot be seen may be there.
    func status(of path: String, followingLinks: Bool) throws(Obstacle) -> stat? {
        var status = stat()
        if unsafe fstatat(AT_FDCWD, path, &status, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW) == 0 { return status }
        guard errno != ENOENT else { return nil }
        throw .unavailable(StoreFailure(SystemFailure("stat"), of: path))
    }

    /// SQLite keeps the others beside the file itself, not beside a link to it.
    var linkFollowed: DatabaseFiles {
        guard let target = unsafe realpath(path, nil) else { return self }
        defer { unsafe free(target) }
        return DatabaseFiles(path: unsafe String(cString: target))
    }

    private func holdsSomething(_ companion: Companion) throws(Obstacle) -> Bool {
        try status(of: path(of: companion), followingLinks: false).map { $0.st_size > 0 } ?? false
    }

    private func firstBytes() throws(Obstacle) -> [UInt8] {
        do throws(SystemFailure) {
            let file = try Descriptor(owning: unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), of: "open")
            var bytes = [UInt8](repeating: 0, count: DatabaseHeader.length)
            let count = unsafe pread(file.number, &bytes, bytes.count, 0)
            guard count >= 0 else { throw SystemFailure("read") }
            return Array(bytes.prefix(count))
        } catch {
            throw .unavailable(StoreFailure(error, of: path))
        }
    }

    private func unavailable(_ reason: String) -> Obstacle {
        .unavailable(StoreFailure(reason: "\(path): \(reason)", remedy: nil))
    }

    private static func kind(of mode: mode_t) -> String {
        switch mode & S_IFMT {
        case S_IFDIR: "a directory"
        case S_IFIFO: "a named pipe"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }
}
