/// What the first bytes of a file say of it, by SQLite's file format.
struct DatabaseHeader {
    /// So long is the header.
    static let length = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    /// What the program says whose file it is.
    let applicationID: Int64
    let userVersion: Int64
    /// Whether this is a form that SQLite reads and writes: by its log or its journal, and by the format of its schema.
    let isUsual: Bool
    /// Whether there is a log, in which the rest may be told in another way.
    let hasLog: Bool

    /// - Parameters:
    ///   - bytes: from the beginning of the file, which is not empty; fewer than `length` where it has no more.
    ///   - hasLog: whether a write-ahead log belongs to it.
    /// - Throws: where they are not those of a database.
    init(_ bytes: [UInt8], hasLog: Bool) throws(Unreadable) {
        self.hasLog = hasLog
        guard bytes.starts(with: Self.magic) else { throw .notADatabase }
        guard bytes.count >= Self.length else { throw .damaged("it is cut off in its header") }
        func number(at place: Int) -> Int64 {
            Int64(Int32(truncatingIfNeeded: bytes[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }))
        }
        applicationID = number(at: 68)
        userVersion = number(at: 60)
        isUsual = bytes[18...19].allSatisfy { (1...2).contains($0) } && (0...4).contains(number(at: 44))
    }
}
