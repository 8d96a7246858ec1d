import CountdownCore
import Dispatch

/// Reads the rows of countdowns on a queue of its own, while those that it has read are taken in: on two processors both
/// together take hardly longer than one of them.
///
/// Nobody else may use the connection until the last portion was taken.
actor ReadingAhead {
    typealias Portion = [(number: Int64, reading: Row.Reading)]

    /// Rows of a portion, a megabyte or so: to hand it over takes no time.
    private static let size = 4_096

    private let executor = QueueExecutor(label: "countdownd.load")
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Nil after the last row.
    private var rows: Statement?
    private let epochs: Epochs
    private var last = Int64.min
    private var portion: Result<Portion, SQLiteFailure> = .success([])

    /// - Parameters:
    ///   - rows: a query for the revision and `Row.columns`, in the order of revisions.
    ///   - epochs: those of the rows.
    init(of rows: sending Statement, _ epochs: Epochs) {
        self.rows = rows
        self.epochs = epochs
        executor.queue.async { self.assumeIsolated { $0.read() } }
    }

    /// The rows that come next, with their numbers, while those after them are being read; nil after the last.
    ///
    /// - Throws: what SQLite says, and where rows are not in their order; this was the last portion then.
    nonisolated func next() throws(SQLiteFailure) -> Portion? {
        let portion = try executor.queue.sync { assumeIsolated { $0.take() } }.get()
        guard !portion.isEmpty else { return nil }
        executor.queue.async { self.assumeIsolated { $0.read() } }
        return portion
    }

    private func take() -> Result<Portion, SQLiteFailure> {
        defer { portion = .success([]) }
        return portion
    }

    private func read() {
        do throws(SQLiteFailure) {
            portion = .success(try readPortion())
        } catch {
            portion = .failure(error)
            rows = nil
        }
    }

    private func readPortion() throws(SQLiteFailure) -> Portion {
        var portion: Portion = []
        portion.reserveCapacity(Self.size)
        while portion.count < Self.size, let rows {
            guard try rows.step() else {
                // It ends here, and not when the queue lets go of this.
                self.rows = nil
                break
            }
            guard let number = rows.integer(0), number > last || last == .min else {
                throw .corrupt("the rows of table countdown are not in their order")
            }
            last = number
            portion.append((number, Row.read(rows) { epochs[$0] }))
        }
        return portion
    }
}
