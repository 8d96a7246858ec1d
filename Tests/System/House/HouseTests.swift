import Foundation
import TestSupport
import Testing

/// Rules about the text of every package's sources that neither the compiler nor swift-format checks. They name modules and
/// words, never files, so that files can move and be renamed.
@Suite("House rules")
struct HouseTests {
    /// The modules that each target may import.
    private static let imports: [String: Set<String>] = [
        "CountdownControls": [],
        "CountdownCore": [],
        "System": ["CLinux", "Dispatch", "Glibc", "Synchronization", "Text"],
        "Text": ["CLinux"],
        "Varlink": ["Glibc"],
        "VarlinkDefinition": [],
        "varlink-generate": ["Glibc", "System", "VarlinkDefinition"],
        "FleetWire": ["Varlink"],
        "Fleet": ["CountdownCore", "Varlink"],
        "RESP": [],
        "FleetBridge": [
            "FleetWire", "Glibc", "NIOCore", "NIOPosix", "NIOSSL", "NIOTLS", "RESP", "System", "Text", "Varlink",
        ],
        "countdownd-redis": ["FleetBridge", "Glibc", "System", "Text"],
        "Tests/Bench/Load": ["CLinux", "CSearch", "Glibc"],
        "IPC": ["CountdownControls", "Dispatch", "Glibc", "System", "Text", "Varlink"],
        "countdownd": [
            "CLinux", "CSystemd", "CountdownCore", "Dispatch", "Fleet", "FleetWire", "Glibc", "IPC",
            "Synchronization", "System", "Text", "Varlink",
        ],
        "countdownctl": ["ArgumentParser", "CountdownControls", "Glibc", "IPC", "System", "Text", "Varlink"],
        "countdown-notify": ["CSystemd", "Glibc", "IPC", "System", "Text", "Varlink"],
    ]

    @Test("each target imports only the modules in its row of the table")
    func importsOfTargets() {
        let lines = lines(matching: #"^(?:@\S+ |public |package |internal |private |fileprivate )*import \w"#)
        #expect(lines.count > 100)
        for line in lines {
            let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
            let words = line.code.split(separator: " ").drop { $0 != "import" }.dropFirst()
            let module = words.drop { kinds.contains($0) }.first?.prefix { $0 != "." } ?? ""
            #expect(Self.imports[line.target]?.contains(String(module)) ?? false, "\(line) imports \(module)")
        }
    }

    @Test("CountdownCore and IPC meet only in files of the daemon whose path says Translation")
    func translation() {
        let core = Set(lines(matching: #"\bimport CountdownCore\b"#).map(\.path))
        let both = core.intersection(lines(matching: #"\bimport IPC\b"#).map(\.path))
        #expect(!both.isEmpty)
        #expect(both.filter { !$0.contains("Translation") }.isEmpty)
    }

    @Test("one file of the daemon reads the clocks; the other files receive the time as a value")
    func clocks() {
        let readings =
            #"\b(clock_gettime|gettimeofday|timespec_get|ContinuousClock|SuspendingClock)\b|\b(WallClock|BootClock)\.now\b|\btime\(nil\)|\bDate\(\)|(DispatchTime|DispatchWallTime|[ (])\.now\(\)"#
        let files = Set(lines(matching: readings).filter { Self.clockless.contains($0.target) }.map(\.path))
        #expect(files.count == 1, "\(files)")
    }

    @Test("one file of the daemon makes a timer")
    func timers() {
        let timers =
            #"\b(makeTimerSource|asyncAfter|Task\.sleep|timerfd_create|timer_create|setitimer|(u|nano|clock_nano)?sleep)\("#
        let files = Set(lines(matching: timers).filter { Self.clockless.contains($0.target) }.map(\.path))
        #expect(files.count == 1, "\(files)")
    }

    @Test("the daemon never suspends in the middle of a turn")
    func suspensions() {
        #expect(lines(matching: #"\bawait\b"#).filter { $0.target == "countdownd" }.isEmpty)
    }

    @Test("no lock guards state, and at most three files share a number between threads")
    func sharing() {
        #expect(
            lines(matching: #"\b(Mutex|NS\w*Lock|NSCondition|pthread_\w*lock\w*|pthread_(mutex|cond)_\w+)\b"#).isEmpty
        )
        #expect(lines(matching: #"\b(DispatchSemaphore|sem_wait)\b"#).isEmpty)
        #expect(Set(lines(matching: #"\bAtomic\b"#).map(\.path)).count <= 3)
    }

    @Test("no declaration is exempt from the compiler's concurrency checks, and no input can end a process")
    func promises() {
        #expect(lines(matching: #"@unchecked\b|\bnonisolated\(unsafe\)|@preconcurrency\b|\bfatalError\b"#).isEmpty)
    }

    @Test("a name at the top level is declared in one file of all packages")
    func names() {
        let kinds = "(?:struct|class|enum|actor|protocol|typealias)"
        let declaration = #"^(?:@?\w+ )*\#(kinds) (\w+)\b.*$"#
        var files: [String: Set<String>] = [:]
        for line in lines(matching: declaration) {
            let name = line.code.replacingOccurrences(of: declaration, with: "$1", options: .regularExpression)
            files[name, default: []].insert(line.path)
        }
        #expect(files.count > 500)
        #expect(files.filter { $0.value.count > 1 }.isEmpty)
    }

    /// The targets that receive the time as a value; clients may read the clocks themselves.
    private static let clockless: Set = [
        "CountdownControls", "CountdownCore", "Varlink", "FleetWire", "RESP", "Fleet", "countdownd",
    ]

    private struct Line: CustomStringConvertible {
        /// From the folder of the repository.
        let path: String
        /// The folder in Sources/, which has the target's name.
        let target: String
        let number: Int
        let code: String

        var description: String { "\(path):\(number)" }
    }

    /// Every line of the sources of all packages without its comment.
    private static let lines: [Line] = ["Sources", "FleetBridge/Sources", "Tests/Bench/Load"].flatMap { folder in
        let root = BuiltProduct.packageDirectory.path + "/" + folder
        let paths = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }.sorted().flatMap { path in
            let text = (try? String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)) ?? ""
            let code = text.replacingOccurrences(of: "//.*", with: "", options: .regularExpression)
            let target = folder.hasSuffix("Sources") ? String(path.prefix { $0 != "/" }) : folder
            return zip(1..., code.components(separatedBy: "\n")).map {
                Line(path: "\(folder)/\(path)", target: target, number: $0, code: $1)
            }
        }
    }

    /// The pattern is Foundation's, which is a hundred times faster than Regex in a debug build.
    private func lines(matching pattern: String) -> [Line] {
        Self.lines.filter { $0.code.range(of: pattern, options: .regularExpression) != nil }
    }
}
