import CountdownCore
import Foundation
import System

@testable import countdownd

/// A store that was damaged, or any other file in its place: it is read or quarantined, and a store is open afterwards.
public enum StoreHarness: Harness {
    private static let now = Now(boot: BootInstant(microseconds: 1_000_000), offset: .seconds(1_770_000_000))
    private static let sound = Result { try makeSound() }

    /// Checks one input.
    public static func check(_ input: inout Input) {
        do {
            let directory = try makeDirectory()
            defer { try? FileManager.default.removeItem(at: directory) }
            let log = directory.appending(path: StoreFolder.name)
            try FileManager.default.createDirectory(at: log, withIntermediateDirectories: true)
            try Data(damaged(sound.get(), by: &input)).write(to: log.appending(path: LogName.name(.segment, 1)))
            var opened = try open(directory)
            try opened.store.begin()
            var limit = Int.max
            let scan = opened.timetable.openScan(live: .oldest, ended: .oldest)
            _ = opened.timetable.scan(scan, budget: &limit) { timetable, slot in
                !timetable[slot].key.text.isEmpty
            }
            opened.store.close(at: opened.timetable.revision)
        } catch {
            fatalError("no store is open: \(error)")
        }
    }

    private static func damaged(_ sound: [UInt8], by input: inout Input) -> [UInt8] {
        guard input.next() != 0 else { return input.rest().bytes }
        var bytes = sound
        while !input.isAtEnd {
            let (high, low, value) = (input.next(), input.next(), input.next())
            let position = (Int(high) << 8 | Int(low)) % max(1, bytes.count)
            if value == 0 { bytes.removeLast(bytes.count - position) } else { bytes[position] ^= value }
            if bytes.isEmpty { break }
        }
        return bytes
    }

    private static func open(_ directory: URL) throws -> OpenedStore {
        let log = Log(level: .error) { _, _, _ in }
        return try StoreLocation(directory: directory.path, durability: .process, limits: Limits(), log: log)
            .open(at: now)
    }

    /// A store with countdowns of every kind.
    private static func makeSound() throws -> [UInt8] {
        let directory = try makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        var opened = try open(directory)
        var changes = Changes()
        for number in 0..<24 {
            let key = try Key("key/\(number % 16)")
            let label = number.isMultiple(of: 3) ? "label" : nil
            let metadata: Metadata? = number.isMultiple(of: 5) ? ["number": "\(number)"] : nil
            let start = Request.Start(key, .after(.seconds(60)), ifLive: .restart, label: label, metadata: metadata)
            let requests: [Request] = [.start(start), [.cancel(key), .pause(key), .finish(key)][number % 3]]
            for request in requests {
                guard case .change(let change) = try opened.timetable.decide(request, at: now) else { continue }
                opened.timetable.apply(change)
                changes.steps.append(change)
            }
        }
        try opened.store.begin()
        try opened.store.commit(changes, comparing: true)
        opened.store.close(at: opened.timetable.revision)
        let path = directory.appending(path: "\(StoreFolder.name)/\(LogName.name(.segment, 1))")
        _ = consume opened
        return Array(try Data(contentsOf: path))
    }

    /// In memory if the system has such a directory.
    private static func makeDirectory() throws -> URL {
        let place = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        let url = URL(filePath: place).appending(path: "countdownd-fuzz-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }
}
