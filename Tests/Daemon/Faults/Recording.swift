import Foundation
import TestSupport

/// What daemons, one after the other on one state directory, did to their files and told their clients.
final class Recording: Sendable {
    /// The life of a daemon.
    struct Life: Sendable {
        var boot = 1
        var size = Load.Size(rounds: 8, metadata: 200)
        var isKilled = true
    }

    let directory: TemporaryDirectory
    let trace: Trace
    let account: Account
    let lives: [Life]
    let durability: String
    /// The records with which the lives begin, and how many there are.
    private let beginnings: [Int]

    init(_ lives: [Life], durability: String, seed: UInt64) throws {
        (self.lives, self.durability) = (lives, durability)
        directory = try TemporaryDirectory(inMemory: true)
        let injection = try FaultInjection(in: directory)
        let file = directory.path(of: "trace")
        let dice = SeededGenerator(seed: seed)
        var label = 0
        for life in lives {
            let environment = try injection.environment(tracing: file, boot: life.boot)
            let daemon = try DaemonProcess(
                in: directory,
                arguments: ["--durability", durability],
                environment: environment
            )
            let load = try Load(of: daemon, life.size, from: label, dice)
            try load.run()
            label = load.label
            _ = try life.isKilled ? daemon.kill() : daemon.terminate()
        }
        let trace = try Trace(of: file)
        (self.trace, account) = (trace, Account(trace.messages()))
        beginnings = trace.records.indices.filter { trace.records[$0].letter == "P" } + [trace.records.count]
    }

    /// The oldest revision that must be there if the power fails before a record.
    func floor(at record: Int) -> Int64 {
        if durability == "power-loss" { return account.newest(before: record) }
        let stop = lives.indices.last { !lives[$0].isKilled && beginnings[$0 + 1] <= record }
        return stop.map { account.newest(before: beginnings[$0 + 1]) } ?? 0
    }

    /// A call before which the power fails: half of the time near a call that is not a write.
    func failure(_ dice: inout SeededGenerator) -> Int {
        let rare = trace.records.indices.filter { !"wAxP".contains(trace.records[$0].letter) }
        guard Bool.random(using: &dice), let place = rare.randomElement(using: &dice) else {
            return .random(in: 0...trace.records.count, using: &dice)
        }
        return min(trace.records.count, max(0, place + .random(in: -2...6, using: &dice)))
    }
}

/// A daemon that is started on files which were made, and is then killed and started again.
struct Revival {
    let directory: TemporaryDirectory
    private let injection: FaultInjection
    private let boot: Int
    private let arguments: [String]

    init(in directory: TemporaryDirectory, boot: Int, durability: String) throws {
        (self.directory, self.boot) = (directory, boot)
        injection = try FaultInjection(in: directory)
        arguments = ["--durability", durability]
    }

    private func start() throws -> DaemonProcess {
        try DaemonProcess(in: directory, arguments: arguments, environment: injection.environment(boot: boot))
    }

    /// - Parameters:
    ///   - newest: the newest revision that clients have.
    ///   - judge: gets what the first daemon has.
    /// - Returns: the faults.
    /// - Throws: that a daemon is not ready, or does not answer.
    func judge(newest: Int64, _ judge: ([String: Fact]) -> [String]) throws -> [String] {
        let first = try start()
        let found = try first.listAll()
        var faults = judge(found)
        let new = try first.startOne("new")
        if new.map({ $0.revision <= newest }) ?? true {
            faults.append("after \(newest) a start has \(new?.short ?? "failed")")
        }
        try first.kill()
        let second = try start()
        var again = try second.listAll()
        if let new, again.removeValue(forKey: "new")?.revision != new.revision {
            faults.append("the new start is lost")
        }
        for (key, fact) in found where key != "new" {
            let other = again.removeValue(forKey: key)
            let isKept = other.map { $0.isSame(fact) || $0.isEnd(of: fact) || fact.forget } ?? fact.forget
            if !isKept { faults.append("after another kill, \(other?.short ?? "none") instead of \(fact.short)") }
        }
        faults += again.values.map { "after another kill there is \($0.short)" }
        try second.kill()
        return faults
    }

    /// What stands in the state directory.
    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory.path(of: "state")).sorted()) ?? []
    }

    var log: String { (try? String(contentsOfFile: directory.path(of: "log"), encoding: .utf8)) ?? "" }
}
