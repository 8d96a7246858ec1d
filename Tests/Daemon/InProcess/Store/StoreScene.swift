import CountdownCore
import Fleet
import Foundation
import TestSupport

@testable import countdownd

/// A store that one daemon after the other opens, on a machine whose clocks a test sets.
final class StoreScene {
    private(set) var directory: TemporaryDirectory
    let lines = Lines()
    /// Some day in 2025.
    var now = Now(boot: BootInstant(microseconds: 1_000_000_000), offset: .seconds(1_750_000_000))
    var bootID = "first boot"
    var durability = Durability.process
    var limits = Limits()
    var thresholds = StoreThresholds()
    /// Whether the daemons are members of a fleet.
    var followsEngine = false

    init() throws { directory = try TemporaryDirectory(inMemory: true) }

    var log: LogText { LogText(folder: directory.path(of: "log")) }

    /// Opens the store. If another test starts a program meanwhile, that has the locks of a store which was closed, too,
    /// until it runs.
    ///
    /// - Parameter beginning: whether the daemon notes at once that it uses the store, as daemons do.
    /// - Returns: a daemon with the open store.
    /// - Throws: why it cannot be opened.
    func open(beginning: Bool = true) throws -> Keeper {
        for _ in 1...10_000 {
            do {
                return try openOnce(beginning: beginning)
            } catch OpenError.held {
                sched_yield()
            }
        }
        return try openOnce(beginning: beginning)
    }

    func openOnce(beginning: Bool = true) throws -> Keeper {
        let location = StoreLocation(
            directory: directory.path,
            durability: durability,
            limits: limits,
            followsEngine: followsEngine,
            log: lines.log,
            thresholds: thresholds
        )
        let keeper = try Keeper(location.open(at: now, bootID: bootID))
        if beginning { try keeper.store.begin() }
        return keeper
    }

    func pass(_ span: Duration, thenSetBy step: Duration = .zero) {
        now = Now(boot: now.boot + span, offset: now.offset + step)
    }

    /// The machine starts again.
    ///
    /// - Parameter id: of the new boot.
    func reboot(_ id: String = "second boot") {
        now = Now(boot: BootInstant(microseconds: 7_000_000), offset: now.offset + .seconds(1_000))
        bootID = id
    }

    /// The files as a daemon leaves them that is killed: copies of them go on in another directory.
    func crash() throws {
        let next = try TemporaryDirectory(inMemory: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name != "lock" {
            try FileManager.default.copyItem(atPath: directory.path(of: name), toPath: next.path(of: name))
        }
        directory = next
    }

    /// Kills the daemon, and lets another one start.
    func crashAndOpen(_ keeper: Keeper) throws -> Keeper {
        try crash()
        withExtendedLifetime(keeper) {}
        return try open()
    }

    /// The files in the directory, by their paths in it, but for the lock.
    var files: [String: Data] {
        get throws {
            let names = FileManager.default.enumerator(atPath: directory.path)?.compactMap { $0 as? String } ?? []
            var files: [String: Data] = [:]
            for name in names where name != "lock" {
                files[name] = FileManager.default.contents(atPath: directory.path(of: name))
            }
            return files
        }
    }
}

/// The files of a log, as a person reads and edits them.
struct LogText {
    let folder: String

    func path(of name: String) -> String { "\(folder)/\(name)" }

    /// The names in the folder, in their order.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
    }

    /// The name of the newest segment.
    var last: String {
        get throws { try names.last { $0.hasSuffix(".log") } ?? "" }
    }

    func bytes(of name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(filePath: path(of: name))))
    }

    func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try Data(bytes).write(to: URL(filePath: path(of: name)))
    }

    /// All lines of a file, or of all files.
    func lines(of name: String? = nil) throws -> [String] {
        try (name.map { [$0] } ?? names).flatMap { name in
            try bytes(of: name).split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// The last line with a text that is no trailer.
    func line(with text: String) throws -> String? { try lines().last { $0.contains(text) && !$0.hasPrefix("{") } }

    /// The newest state line.
    var state: StateLine? {
        get throws {
            guard let line = try line(with: #"["state","#), case let bytes = Array(line.utf8),
                case .state(let state) = StateLine.read(0..<bytes.count, of: (bytes + [0]).span)
            else { return nil }
            return state
        }
    }

    /// Changes each line that contains a text, in each file.
    func edit(_ text: String, _ change: (String) -> String) throws {
        for name in try names {
            let lines = try bytes(of: name).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let edited = lines.map { line in
                let line = String(decoding: line, as: UTF8.self)
                return line.contains(text) ? change(line) : line
            }
            try write(edited.joined(separator: "\n").utf8, to: name)
        }
    }

    /// Sets elements of the line of a countdown: the revision is the first, and the key the second.
    func edit(_ key: String, _ elements: [Int: String]) throws {
        try edit("\"\(key)\",") { line in
            var parts = line.dropFirst().dropLast().split(separator: ",").map(String.init)
            if parts.count < 12 { parts += ["null", "null", "0"] }
            for (index, element) in elements { parts[index] = element }
            return "[\(parts.joined(separator: ","))]"
        }
    }

    /// The places behind the turns of a file.
    func ends(of name: String) throws -> [Int] {
        var (ends, position): ([Int], Int) = ([], 0)
        for line in try bytes(of: name).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .dropLast()
        {
            position += line.count + 1
            if line.first == UInt8(ascii: "{") { ends.append(position) }
        }
        return ends
    }
}

/// A daemon's use of its store in its turns.
final class Keeper {
    private var opened: OpenedStore

    init(_ opened: consuming OpenedStore) {
        self.opened = opened
    }

    var timetable: Timetable {
        _read { yield opened.timetable }
        _modify { yield &opened.timetable }
    }

    var store: any Store { opened.store }
    var stepRevision: Revision? { opened.stepRevision }
    var offset: Duration? { opened.offset }
    var fleet: StoredFleet { opened.fleet }

    func canResume(after revision: Revision) -> Bool { timetable.canResume(after: revision) }

    /// Carries requests out in one turn.
    @discardableResult
    func turn(_ requests: Request..., at now: Now) throws -> [Change] {
        try turn(requests, at: now)
    }

    @discardableResult
    func turn(_ requests: [Request], clockStep: ClockStep? = nil, at now: Now) throws -> [Change] {
        let changes = try decide(requests, clockStep: clockStep, at: now)
        if !changes.isEmpty { try store.commit(changes, comparing: true) }
        return changes.steps
    }

    /// Decides requests, whose changes are not stored.
    func decide(_ requests: [Request], clockStep: ClockStep? = nil, at now: Now) throws -> Changes {
        var changes = Changes(steps: [], clockStep: clockStep)
        while let ending = timetable.expireNext(at: now) { changes.steps.append(ending) }
        for request in requests {
            guard case .change(let change) = try timetable.decide(request, at: now) else { continue }
            timetable.apply(change)
            changes.steps.append(change)
        }
        return changes
    }

    /// Does the work of an idle daemon until nothing is left of it.
    func work(fleet: StoredFleet? = nil, at now: Now) {
        repeat {
            while step(fleet: fleet, at: now) {}
            (store as? LogStore)?.background.wait()
        } while store.isWaiting
    }

    /// Does the work of one idle iteration.
    @discardableResult
    func step(fleet: StoredFleet? = nil, lines: Int = 128, at now: Now) -> Bool {
        let store = store
        return store.work(&timetable, fleet: fleet, lines: lines, at: now.boot)
    }

    /// Lets go of endings that are too many or too old.
    func trim(at now: Now) {
        var limit = Int.max
        store.drop(timetable.compact(at: now, budget: &limit))
    }

    func stop() {
        store.close(at: timetable.revision)
    }

    /// All that is known, in the order of revisions.
    var known: [KeyedCountdown] {
        var known: [KeyedCountdown] = []
        let scan = timetable.openScan(live: .oldest, ended: .oldest)
        var limit = Int.max
        _ = timetable.scan(scan, budget: &limit) { timetable, slot in
            known.append(timetable[slot])
            return true
        }
        timetable.closeScan(scan)
        return known
    }

    var keys: [String] { known.map(\.key.text) }

    subscript(_ key: String) -> KeyedCountdown? {
        get throws { timetable.countdown(under: try Key(key)) }
    }
}

extension Request {
    static func start(_ key: String, for seconds: Int64 = 600) throws -> Request {
        .start(Start(try Key(key), .after(.seconds(seconds))))
    }

    static func restart(_ key: String, label: String? = nil) throws -> Request {
        .start(Start(try Key(key), ifLive: .restart, label: label))
    }
}

/// A store, new for each test.
class StoreSuite {
    let scene: StoreScene

    init() throws { scene = try StoreScene() }

    init(_ scene: StoreScene) throws { self.scene = scene }
}
