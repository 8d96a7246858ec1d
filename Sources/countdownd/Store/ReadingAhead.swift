import CountdownCore
import Dispatch

/// Reads the rows of countdowns on a queue of its own, while those that it has read are taken in: on two processors both
/// together take hardly longer than one of them.
///
/// Nobody else may use the connection until the last portion was taken.
actor ReadingAhead {
    typealias Portion = [Row.Reading]

    /// Rows of a portion, a megabyte or so: to hand it over takes no time.
    private static let size = 4_096

    private let executor = QueueExecutor(label: "countdownd.load")
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Nil after the last one.
    private var batches: Statement?
    private let epochs: Epochs
    /// What the last batch counts from.
    private var lastFirst: Int64?
    /// The newest revision of the rows that were read.
    private var last = Revision(0)
    /// The epochs that rows are of.
    private var used: Set<Int64> = []
    /// That of the last row, which is most often that of the next, and its shift.
    private var epoch: (number: Int64, shift: Duration?)?
    private var portion: Result<Portion, SQLiteFailure> = .success([])

    /// - Parameters:
    ///   - batches: a query for what each batch counts from, in that order, and its changes.
    ///   - epochs: those of the rows.
    init(of batches: sending Statement, _ epochs: Epochs) {
        self.batches = batches
        self.epochs = epochs
        executor.queue.async { self.assumeIsolated { $0.read() } }
    }

    /// The rows that come next, while those after them are being read; nil after the last.
    ///
    /// - Throws: what SQLite says, and where batches are not in their order; this was the last portion then.
    nonisolated func next() throws(SQLiteFailure) -> Portion? {
        let portion = try executor.queue.sync { assumeIsolated { $0.take() } }.get()
        guard !portion.isEmpty else { return nil }
        executor.queue.async { self.assumeIsolated { $0.read() } }
        return portion
    }

    /// The epochs that the rows of all portions so far are of, where these can be read.
    nonisolated var usedEpochs: Set<Int64> { executor.queue.sync { assumeIsolated { $0.used } } }

    private func take() -> Result<Portion, SQLiteFailure> {
        defer { portion = .success([]) }
        return portion
    }

    private func read() {
        do throws(SQLiteFailure) {
            portion = .success(try readPortion())
        } catch {
            portion = .failure(error)
            batches = nil
        }
    }

    private func readPortion() throws(SQLiteFailure) -> Portion {
        var portion: Portion = []
        portion.reserveCapacity(Self.size + Batch.distances.count)
        while portion.count < Self.size, let batches {
            guard try batches.step() else {
                // It ends here, and not when the queue lets go of this.
                self.batches = nil
                break
            }
            guard let first = batches.integer(0), lastFirst.map({ first > $0 }) ?? true else {
                throw .corrupt("the rows of table batch are not in their order")
            }
            lastFirst = first
            read(Batch(first: first, bytes: batches.bytes(1)), into: &portion)
        }
        return portion
    }

    private func read(_ batch: Batch, into portion: inout Portion) {
        for line in batch.lines {
            let reading = Row.read(line, of: batch, after: last, shift: shift)
            if let revision = reading.revision { last = revision }
            portion.append(reading)
        }
    }

    private func shift(of number: Int64) -> Duration? {
        if let epoch, epoch.number == number { return epoch.shift }
        let shift = epochs[number]
        used.insert(number)
        epoch = (number, shift)
        return shift
    }
}
