import CSQLite
import Glibc

/// What SQLite answered instead of doing what it was asked.
struct SQLiteFailure: Error, CustomStringConvertible {
    /// The extended result code.
    let code: Int32
    /// The errno of the system call that failed; 0 where none did.
    let systemCode: Int32
    private(set) var description: String

    /// Whether the file cannot be what it should be: what is in it is broken, or somebody else's.
    var isOfContents: Bool {
        let primary = code & 0xff
        return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_FORMAT
    }

    /// Whether another connection has a lock.
    var isOfLock: Bool { code & 0xff == SQLITE_BUSY }

    /// Whether a file could not be read or written.
    var isOfInputOrOutput: Bool { code & 0xff == SQLITE_IOERR }

    init(code: Int32, systemCode: Int32 = 0, description: String) {
        self.code = code
        self.systemCode = systemCode
        self.description = systemCode == 0 ? description : "\(description): \(SystemFailure.text(of: systemCode))"
    }
}

extension SQLiteFailure {
    /// The same, with what was being done when it was met.
    func met(_ occasion: String) -> SQLiteFailure {
        var failure = self
        failure.description = "\(occasion): \(description)"
        return failure
    }

    /// What SQLite can read and no daemon has written.
    static func corrupt(_ description: String) -> SQLiteFailure {
        SQLiteFailure(code: SQLITE_CORRUPT, description: description)
    }
}

/// A connection to a database: the only file that talks to libsqlite3, whose pointers stay in here.
@safe struct Database: ~Copyable {
    /// Sets the library and the process up. Call it once, before any database is opened.
    static func prepareLibrary() { _ = sqlite_prepare_process() }

    /// How many milliseconds a lock of another connection is waited out: of a backup, or a person with sqlite3.
    static let patience: Int32 = 250

    private let handle: OpaquePointer
    /// Where the hook of libsqlite3 notes how many frames the write-ahead log has.
    private let frames: UnsafeMutablePointer<Int32>

    /// How many frames the write-ahead log has had since this connection committed, or copied all of it, last.
    var walFrames: Int { Int(unsafe frames.pointee) }

    /// Opens a file. Nothing is copied out of its write-ahead log but by `checkpoint`, and by being closed.
    ///
    /// - Parameters:
    ///   - path: of the file; `:memory:` for a database that lasts as long as the connection.
    ///   - busyMilliseconds: how long a lock of another connection is waited out.
    ///   - creating: whether the file is made if it is missing.
    ///   - trustingSchema: whether triggers run. Anybody who can write to the file can plant one.
    /// - Throws: what SQLite says of the file.
    init(
        path: String,
        busyMilliseconds: Int32,
        creating: Bool = false,
        trustingSchema: Bool = false
    ) throws(SQLiteFailure) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(path, &opened, creating ? flags | SQLITE_OPEN_CREATE : flags, nil)
        guard code == SQLITE_OK, let handle = unsafe opened else {
            let failure = unsafe Self.failure(code, of: opened)
            unsafe sqlite3_close_v2(opened)
            throw failure
        }
        unsafe self.handle = handle
        unsafe frames = .allocate(capacity: 1)
        unsafe frames.initialize(to: 0)
        unsafe sqlite3_wal_hook(
            handle,
            { context, _, _, frames in
                unsafe context?.assumingMemoryBound(to: Int32.self).pointee = frames
                return SQLITE_OK
            },
            frames
        )
        if !trustingSchema { unsafe sqlite_distrust_schema(handle) }
        wait(milliseconds: busyMilliseconds)
    }

    deinit {
        unsafe sqlite3_close_v2(handle)
        unsafe frames.deallocate()
    }

    /// Says whether the write-ahead log stays as it is when the last connection is closed, or is copied and removed then.
    func keepLogOnClose(_ keeps: Bool) {
        unsafe _ = sqlite_keep_log_on_close(handle, keeps ? 1 : 0)
    }

    /// Says how long a lock of another connection is waited out from now on.
    func wait(milliseconds: Int32) {
        unsafe sqlite3_busy_timeout(handle, milliseconds)
    }

    /// Runs statements whose rows are of no interest.
    func execute(_ sql: String) throws(SQLiteFailure) {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw unsafe Self.failure(code, of: handle) }
    }

    /// Prepares a statement, which may be sent to another queue: the connection is not used on two of them at once then.
    func prepare(_ sql: String) throws(SQLiteFailure) -> sending Statement {
        var prepared: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        // By its address, as the compiler takes the pointer for a part of the connection, which stays where it is.
        guard code == SQLITE_OK, let statement = unsafe OpaquePointer(bitPattern: UInt(bitPattern: prepared)) else {
            throw unsafe Self.failure(code, of: handle)
        }
        return unsafe Statement(statement)
    }

    /// Runs statements in one transaction, which is that around it where there is one: all is done or, where something is
    /// thrown, nothing.
    func inTransaction<Result: ~Copyable>(
        _ body: (borrowing Database) throws(SQLiteFailure) -> Result
    ) throws(SQLiteFailure) -> Result {
        guard !isInTransaction else { return try body(self) }
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteFailure) {
            let result = try body(self)
            try execute("COMMIT")
            return result
        } catch {
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// The integer in the first row of a query, nil where there is none.
    func integer(_ sql: String) throws(SQLiteFailure) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Copies what it can of the write-ahead log into the database, without waiting for anybody but those whose locks are
    /// waited out where the log is to be cut off.
    ///
    /// - Parameter cuttingOff: whether the file of the log, which keeps its length otherwise, is empty where all of it has
    ///   been copied and nobody reads it.
    /// - Returns: how many frames the log has, and how many of them have been copied.
    /// - Throws: what SQLite says of it; a lock of somebody else is none of that.
    @discardableResult
    func checkpoint(cuttingOff: Bool = false) throws(SQLiteFailure) -> (frames: Int, copied: Int) {
        // A connection that has read nothing yet does not know that there is a log, and would say that nothing is left.
        _ = try integer("PRAGMA schema_version")
        var (all, copied): (Int32, Int32) = (0, 0)
        let mode = cuttingOff ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, mode, &all, &copied)
        guard code == SQLITE_OK || code & 0xff == SQLITE_BUSY else { throw unsafe Self.failure(code, of: handle) }
        // The next commit begins the log anew.
        if code == SQLITE_OK, all == copied { unsafe frames.pointee = 0 }
        return (max(0, Int(all)), max(0, Int(copied)))
    }

    /// Brings what was copied into the database onto the disk.
    ///
    /// A checkpoint does so only where it has copied the whole log.
    func sync() throws(SQLiteFailure) {
        let code = unsafe sqlite_sync(handle)
        guard code == SQLITE_OK else { throw unsafe Self.failure(code, of: handle) }
    }

    /// Whether a transaction is open.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    fileprivate static func failure(_ code: Int32, of handle: OpaquePointer?) -> SQLiteFailure {
        guard let message = unsafe sqlite3_errmsg(handle) else { return SQLiteFailure(code: code, description: "") }
        let isOfSystem = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xff)
        return SQLiteFailure(
            code: code,
            systemCode: isOfSystem ? unsafe sqlite3_system_errno(handle) : 0,
            description: unsafe String(cString: message)
        )
    }
}

/// A prepared statement; parameters count from 1, columns from 0, as in SQLite.
@safe final class Statement {
    private let handle: OpaquePointer

    fileprivate init(_ handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    func bind(_ value: Int64?, at parameter: Int32) {
        guard let value else { return bindNull(at: parameter) }
        unsafe sqlite3_bind_int64(handle, parameter, value)
    }

    func bind(_ text: String?, at parameter: Int32) {
        guard let text else { return bindNull(at: parameter) }
        let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        unsafe sqlite3_bind_text(handle, parameter, text, Int32(text.utf8.count), copied)
    }

    /// Runs to the end with one more parameter bound, a text in UTF-8 that is not copied; the statement may be run again.
    func run(with text: Span<UInt8>, at parameter: Int32) throws(SQLiteFailure) {
        try unsafe text.withUnsafeBytes { bytes throws(SQLiteFailure) in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            unsafe _ = sqlite3_bind_text(handle, parameter, start, Int32(bytes.count), nil)
            defer { bindNull(at: parameter) }
            try run()
        }
    }

    private func bindNull(at parameter: Int32) {
        unsafe sqlite3_bind_null(handle, parameter)
    }

    /// Goes to the next row.
    /// - Returns: whether there is one.
    func step() throws(SQLiteFailure) -> Bool {
        let code = unsafe sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        guard code == SQLITE_DONE else {
            let failure = unsafe Database.failure(code, of: sqlite3_db_handle(handle))
            unsafe sqlite3_reset(handle)
            throw failure
        }
        return false
    }

    /// Runs to the end, and may be run again.
    func run() throws(SQLiteFailure) {
        _ = try step()
        reset()
    }

    /// Leaves the row that it stands on, so that it may be run again.
    func reset() {
        unsafe sqlite3_reset(handle)
    }

    /// Nil where the column holds NULL, or something else than an integer.
    func integer(_ column: Int32) -> Int64? {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER else { return nil }
        return unsafe sqlite3_column_int64(handle, column)
    }

    /// Nil where the column holds NULL, something else than a text, or no UTF-8.
    func text(_ column: Int32) -> String? {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT else { return nil }
        guard let bytes = unsafe sqlite3_column_text(handle, column) else { return nil }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        let buffer = unsafe UnsafeBufferPointer(start: bytes, count: count)
        guard let text = unsafe try? UTF8Span(validating: buffer.span) else { return nil }
        return String(copying: text)
    }

    /// The bytes of a text or blob; none where the column holds anything else.
    func bytes(_ column: Int32) -> [UInt8] {
        guard let bytes = unsafe sqlite3_column_blob(handle, column) else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }

    func isNull(_ column: Int32) -> Bool {
        unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
    }
}
