/// Why a file that stands in the store's place cannot be read as one, now or later.
enum Unreadable: Error, Equatable {
    case notADatabase
    case ofAnotherProgram(applicationID: Int64)
    case newer(version: Int64, known: Int64)
    /// It says that it is ours, but the table is not as that version has it.
    case strange(table: String, version: Int64)
    /// What is wrong, as SQLite or we say it.
    case damaged(String)
    /// There is a log, and no database that it would belong to.
    case logAlone

    var what: String {
        switch self {
        case .notADatabase: "it is no SQLite database"
        case .ofAnotherProgram(let id): "it is another program's SQLite database (application id \(id))"
        case .newer(let version, let known):
            "it is of version \(version), from a newer countdownd; this one knows versions up to \(known)"
        case .strange(let table, let version): "its table \(table) is not that of version \(version)"
        case .damaged(let fault): "it is damaged (\(fault))"
        case .logAlone: "there is a log of changes, but the database that they belong to is missing"
        }
    }

    /// What a person can do.
    ///
    /// - Parameters:
    ///   - path: where it stood.
    ///   - place: where it is kept.
    /// - Returns: the end of a sentence.
    func advice(path: String, place: String) -> String {
        switch self {
        case .notADatabase, .ofAnotherProgram, .strange:
            "move it where it belongs: countdownd needs \(path) for itself, or another --state-directory"
        case .newer:
            "to have its countdowns again, upgrade countdownd, stop it, and move \(place) back to \(path)"
        case .damaged:
            """
            `sqlite3 '\(place)' .recover` shows what is left in it; a good copy of it can be put at \(path) while \
            countdownd is stopped
            """
        case .logAlone:
            "where the database turns up, it belongs beside it, under its name with -wal behind it"
        }
    }
}

/// What keeps a file from being opened as the store.
enum Obstacle: Error {
    /// It is to be moved aside: it will not get better.
    case unreadable(Unreadable)
    /// It cannot be had now, and stays where it is.
    case unavailable(StoreFailure)

    /// - Parameters:
    ///   - failure: met while the file was opened or read.
    ///   - path: of the file.
    init(_ failure: SQLiteFailure, at path: String) {
        self =
            failure.isOfContents
            ? .unreadable(.damaged(failure.description)) : .unavailable(StoreFailure(failure, of: path))
    }
}
