import Foundation
import Synchronization
import TestSupport
import Testing

/// The power fails at a random call of a recorded trace. Seeds choose the changes, the calls and what the disk has; the trace
/// itself depends on the machine, so `COUNTDOWND_KEEP=DIRECTORY` keeps the files of each image with a fault.
@Suite("A power failure", .serialized, .withoutSanitizers)
struct PowerTests {
    /// With bases there are enough changes for one.
    static let large = Load.Size(rounds: 330, metadata: 4_000)

    @Test(
        "answered changes are there whatever the disk has of unsynced writes, and with `process` a beginning of the history",
        arguments: ["process", "power-loss"],
        Setting.withBases
    )
    func power(durability: String, withBases: Bool) throws {
        var lives = [
            Recording.Life(), Recording.Life(isKilled: false), Recording.Life(boot: 2), Recording.Life(boot: 2),
        ]
        if withBases { lives[2].size = Self.large }
        let recording = try Recording(lives, durability: durability, seed: Setting.seed)
        try #require(recording.account.faults.isEmpty, "\(recording.account.faults)")
        var dice = SeededGenerator(seed: Setting.seed)
        let failures = (0..<Setting.trials).map { _ in recording.failure(&dice) }.sorted()
        let trials = Trials("power, \(durability), bases: \(withBases)")
        var disk = Disk(recording.trace, root: recording.directory.path(of: "state"))
        for (number, record) in failures.enumerated() {
            disk.proceed(to: record)
            let seed = Setting.seed &+ UInt64(number) &* 1_000_003
            trials.add("\(number) at \(record) of \(recording.trace.records.count)") { [disk] in
                try Self.fail(recording, disk, seed: seed)
            } keep: { [disk] path in
                var dice = SeededGenerator(seed: seed)
                try disk.image(at: path, &dice)
            }
        }
        trials.conclude()
    }

    private static func fail(_ recording: Recording, _ disk: Disk, seed: UInt64) throws -> [String] {
        var dice = SeededGenerator(seed: seed)
        let directory = try TemporaryDirectory(inMemory: true)
        try disk.image(at: directory.path(of: "state"), &dice)
        let revival = try Revival(in: directory, boot: 9, durability: recording.durability)
        let newest = recording.account.newest(before: disk.position)
        var faults = try revival.judge(newest: newest) {
            recording.account.faults(of: $0, notBefore: recording.floor(at: disk.position))
        }
        // Before the first change, there is nothing to lose.
        if newest > 0, revival.names.contains(where: { $0.contains("unreadable") }) {
            faults.append("put aside: \(revival.names)")
        }
        return faults.isEmpty ? [] : faults + [revival.log]
    }
}

/// Trials that run beside each other, and their faults.
final class Trials: Sendable {
    private let name: String
    private let queue = OperationQueue()
    private let room = DispatchSemaphore(value: 6)
    private let sum = Mutex((count: 0, faults: [String]()))

    init(_ name: String) {
        self.name = name
        queue.maxConcurrentOperationCount = 6
    }

    /// Adds a trial as soon as there is room.
    ///
    /// - Parameters:
    ///   - place: the number and the kind of the trial.
    ///   - run: makes it, and returns the faults.
    ///   - keep: makes the files with which it began.
    func add(
        _ place: String,
        run: @escaping @Sendable () throws -> [String],
        keep: @escaping @Sendable (String) throws -> Void = { _ in }
    ) {
        room.wait()
        queue.addOperation { [self] in
            defer { room.signal() }
            var faults: [String]
            do { faults = try run() } catch { faults = ["\(error)"] }
            if !faults.isEmpty, let kept = Setting.kept {
                let path = "\(kept)/\(name), \(place)".replacingOccurrences(of: " ", with: "-")
                do { try keep(path) } catch { faults.append("not kept: \(error)") }
            }
            let lines = faults.prefix(6).joined(separator: "\n  ")
            sum.withLock { sum in
                sum.count += 1
                if !faults.isEmpty { sum.faults.append("\(name), \(place): \(lines)") }
            }
        }
    }

    func conclude(_ location: SourceLocation = #_sourceLocation) {
        queue.waitUntilAllOperationsAreFinished()
        let (count, faults) = sum.withLock { $0 }
        print("\(name), seed \(Setting.seed): \(count) trials, \(faults.count) with faults")
        let first = faults.prefix(10).joined(separator: "\n")
        let summary = "COUNTDOWND_SEED=\(Setting.seed): \(faults.count) of \(count) trials"
        #expect(faults.isEmpty, "\(summary)\n\(first)", sourceLocation: location)
    }
}
