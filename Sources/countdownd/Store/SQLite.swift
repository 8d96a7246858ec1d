import CLinux
import CSQLite
import Glibc
import System

/// An error of SQLite.
struct SQLiteFailure: Error, CustomStringConvertible {
    /// The extended result code.
    let code: Int32
    /// The errno of the failed system call; 0 if none failed.
    let systemCode: Int32
    private(set) var description: String

    /// Whether the file is corrupt or not a database.
    var isOfContents: Bool {
        let primary = code & 0xff
        return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_FORMAT
    }

    /// Whether another connection holds a lock.
    var isOfLock: Bool { code & 0xff == SQLITE_BUSY }

    /// Whether a file could not be read or written.
    var isOfInputOrOutput: Bool { code & 0xff == SQLITE_IOERR }

    init(code: Int32, systemCode: Int32 = 0, description: String) {
        self.code = code
        self.systemCode = systemCode
        self.description = systemCode == 0 ? description : "\(description): \(systemMessage(systemCode))"
    }
}

extension SQLiteFailure {
    /// The same error, after the action that failed.
    func during(_ occasion: String) -> SQLiteFailure {
        var failure = self
        failure.description = "\(occasion): \(description)"
        return failure
    }

    /// The failure of a call that a lock of another connection prevents.
    static var busy: SQLiteFailure { SQLiteFailure(code: SQLITE_BUSY, description: "another connection has a lock") }

    /// An error for contents that SQLite can read but no daemon writes.
    static func corrupt(_ description: String) -> SQLiteFailure {
        SQLiteFailure(code: SQLITE_CORRUPT, description: description)
    }
}

/// A connection to a database. This file is the only one that calls libsqlite3; its pointers do not leave it.
@safe struct Database: ~Copyable {
    /// Sets the library and the process up. Call it once, before any database is opened.
    ///
    /// The index of the write-ahead log is mapped into memory. If it is truncated, SQLite finds an empty page and makes the
    /// index anew from the log, and the next commit finds that the file was truncated.
    static func prepareLibrary() {
        _ = sqlite_prepare_library()
        linux_survive_truncated_files()
        // Makes RLIMIT_FSIZE an error of the write, and not the end of the process.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Bytes of a page of a store.
    static let pageSize = 1_024

    /// How many milliseconds a connection waits for a lock of another one, such as a backup or a person with sqlite3.
    static let busyMilliseconds: Int32 = 250

    private let handle: OpaquePointer
    /// Set by SQLite's hook: the number of frames in the write-ahead log.
    private let frames: UnsafeMutablePointer<Int32>

    /// The number of frames that the log had at this connection's last commit; 0 after all of it was copied.
    var walFrames: Int { Int(unsafe frames.pointee) }

    /// The least size of the log's file: a header, and for each frame a page with its header.
    var logBytes: Int { walFrames == 0 ? 0 : 32 + walFrames * (24 + Self.pageSize) }

    /// Opens a file. Its write-ahead log is copied only by `checkpoint`, and when the last connection is closed.
    ///
    /// - Parameters:
    ///   - path: of the file; `:memory:` for a database that lives as long as the connection.
    ///   - busyMilliseconds: how long to wait for a lock of another connection.
    ///   - creating: whether to create the file if it is missing.
    ///   - trustingSchema: whether triggers run. Any program that can write to the file can plant one.
    /// - Throws: SQLite's error.
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

    /// Sets whether the log stays when the last connection is closed, or is copied and removed.
    func keepLogOnClose(_ keeps: Bool) {
        unsafe _ = sqlite_keep_log_on_close(handle, keeps ? 1 : 0)
    }

    /// Sets how long to wait for a lock of another connection.
    func wait(milliseconds: Int32) {
        unsafe sqlite3_busy_timeout(handle, milliseconds)
    }

    /// Runs statements and ignores their rows.
    func execute(_ sql: String) throws(SQLiteFailure) {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw unsafe Self.failure(code, of: handle) }
    }

    func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
        var prepared: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let statement = unsafe prepared else {
            throw unsafe Self.failure(code, of: handle)
        }
        return unsafe Statement(statement)
    }

    /// Runs the body in a transaction, or in the open one. If the body throws, nothing is stored.
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

    /// The integer in the first row of a query; nil if there is no row.
    func integer(_ sql: String) throws(SQLiteFailure) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Copies as much of the write-ahead log into the database as it can. Locks of other connections are waited for only if
    /// the log is to be truncated.
    ///
    /// - Parameter cuttingOff: whether to truncate the log's file if all of it was copied and no connection reads it;
    ///   otherwise the file keeps its size.
    /// - Returns: the number of frames in the log, and how many of them have been copied.
    /// - Throws: SQLite's error, unless it is a lock of another connection.
    @discardableResult
    func checkpoint(cuttingOff: Bool = false) throws(SQLiteFailure) -> (frames: Int, copied: Int) {
        // A connection that has read nothing does not know the log, and would report that nothing is left.
        _ = try integer("PRAGMA schema_version")
        var (all, copied): (Int32, Int32) = (0, 0)
        let mode = cuttingOff ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, mode, &all, &copied)
        guard code == SQLITE_OK || code & 0xff == SQLITE_BUSY else { throw unsafe Self.failure(code, of: handle) }
        // The next commit restarts the log.
        if code == SQLITE_OK, all == copied { unsafe frames.pointee = 0 }
        return (max(0, Int(all)), max(0, Int(copied)))
    }

    /// Syncs the database to the disk.
    ///
    /// A checkpoint does so only if it has copied the whole log.
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

/// A prepared statement. As in SQLite, parameters count from 1 and columns from 0.
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

    /// Runs the statement with one more parameter bound: a text in UTF-8, which is not copied. The statement can be run
    /// again.
    func run(with text: Span<UInt8>, at parameter: Int32) throws(SQLiteFailure) {
        try unsafe text.withUnsafeBytes { bytes throws(SQLiteFailure) in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            unsafe _ = sqlite3_bind_text(handle, parameter, start, Int32(bytes.count), nil)
            defer { bindNull(at: parameter) }
            try run()
        }
    }

    /// Runs the statement with these integers as its first parameters.
    func run(binding integers: Int64...) throws(SQLiteFailure) {
        for (parameter, integer) in zip(Int32(1)..., integers) { bind(integer, at: parameter) }
        try run()
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

    /// Runs the statement to its end; it can be run again.
    func run() throws(SQLiteFailure) {
        _ = try step()
        reset()
    }

    /// Leaves the current row, so that the statement can be run again.
    func reset() {
        unsafe sqlite3_reset(handle)
    }

    /// Nil if the column is NULL or not an integer.
    func integer(_ column: Int32) -> Int64? {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER else { return nil }
        return unsafe sqlite3_column_int64(handle, column)
    }

    /// Nil if the column is NULL, not a text, or not valid UTF-8.
    func text(_ column: Int32) -> String? {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT else { return nil }
        guard let bytes = unsafe sqlite3_column_text(handle, column) else { return nil }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        let buffer = unsafe UnsafeBufferPointer(start: bytes, count: count)
        guard let text = unsafe try? UTF8Span(validating: buffer.span) else { return nil }
        return String(copying: text)
    }

    /// The bytes of a text or blob; empty for any other value.
    func bytes(_ column: Int32) -> [UInt8] {
        guard let bytes = unsafe sqlite3_column_blob(handle, column) else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }

    func isNull(_ column: Int32) -> Bool {
        unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
    }
}
