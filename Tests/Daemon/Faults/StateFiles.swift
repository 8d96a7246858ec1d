import Foundation
import TestSupport

/// The content of a state directory at the end.
struct StateFiles {
    private let directory: String

    init(in directory: String) {
        self.directory = directory
    }

    /// The faults of its files; files that were there before must be there under some name.
    func faults(keeping kept: [String: Data]) -> [String] {
        var faults: [String] = []
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? []
        let contents = names.compactMap { FileManager.default.contents(atPath: "\(directory)/\($0)") }
        for (name, data) in kept.sorted(by: { $0.key < $1.key }) where !contents.contains(data) {
            faults.append("\(name) is not kept; there are \(names.sorted())")
        }
        if kept.isEmpty, names.contains(where: { $0.contains("unreadable") }) {
            faults.append("a store that can be read was moved aside: \(names.sorted())")
        }
        return faults + integrity
    }

    /// The folders beside the store that the log of the daemon that moved them does not name.
    func faults(namedIn log: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasPrefix("log-") && !log.contains($0) }.map { "the log does not name \($0)" }
    }

    /// The revisions of all ends that are kept.
    func keptEnds() throws -> Set<Int64> {
        let ends = try printed().standardOutput.split(separator: "\n").compactMap { line -> Int64? in
            let countdown = try JSONDecoder().decode(Printed.self, from: Data(line.utf8))
            return countdown.endedUSec == nil ? nil : countdown.revision
        }
        return Set(ends)
    }

    private struct Printed: Decodable {
        let revision: Int64
        let endedUSec: Int64?
    }

    private func printed() throws -> CommandRun {
        try RunningCommand(["--print-store", directory], executable: BuiltProduct.path(of: "countdownd")).finish()
    }

    /// What the next start would report.
    private var integrity: [String] {
        do {
            let run = try printed()
            return run.exitCode == 0 && run.standardError.isEmpty ? [] : ["the store is broken: \(run.standardError)"]
        } catch {
            return ["the store cannot be checked: \(error)"]
        }
    }
}

/// The log of the daemons of a run.
struct Said {
    private let lines: [Substring]

    init(_ log: String) {
        lines = log.split(separator: "\n")
    }

    /// Lines that no daemon should log, or not so often.
    var faults: [String] {
        let fatal = lines.filter { $0.contains("atal") || $0.contains("rror: ") && !isExpected($0) }.map(String.init)
        let outages = lines.filter { $0.contains("cannot be stored") }.count
        return outages > 2 ? fatal + ["\(outages) lines say that nothing can be stored"] : fatal
    }

    private func isExpected(_ line: Substring) -> Bool {
        ["changes cannot be stored", "could not be stored", "cannot be read"].contains { line.contains($0) }
    }
}
