import Testing

/// Each rule finds what it is there for, and lets pass what only looks like it.
@Suite("The rules of the house")
struct RuleTests {
    private func file(_ text: String, at path: String = "Sources/countdownd/Some.swift") -> SourceFile {
        SourceFile(path: path, text: text)
    }

    @Test(
        "a stranger among the imports is found, however it is written",
        arguments: [
            "import Foundation", "public import IPC", "@testable import Varlink", "import struct Glibc.timespec",
            "private import CLinux.errno",
        ]
    )
    func strangers(line: String) {
        #expect(!ImportRules.strangers(in: file(line, at: "Sources/CountdownCore/Key.swift")).isEmpty)
    }

    @Test("an import that the table allows is none")
    func allowedImports() {
        #expect(
            ImportRules.strangers(in: file("public import Varlink\nimport Glibc", at: "Sources/IPC/A.swift")).isEmpty
        )
        #expect(ImportRules.strangers(in: file("// import Glibc", at: "Sources/CountdownCore/A.swift")).isEmpty)
    }

    @Test("a target that the table does not know is found")
    func unknownTarget() {
        #expect(!ImportRules.strangers(in: file("import Glibc", at: "Sources/Other/A.swift")).isEmpty)
    }

    @Test("core and interface in one file are found, but in the translation")
    func meetings() {
        let both = "import CountdownCore\nimport IPC"
        #expect(!ImportRules.meetings(in: file(both)).isEmpty)
        #expect(ImportRules.meetings(in: file(both, at: "Sources/countdownd/Peer/Translation.swift")).isEmpty)
        #expect(ImportRules.meetings(in: file("import CountdownCore\nimport Varlink")).isEmpty)
    }

    @Test(
        "a clock read elsewhere is found",
        arguments: [
            "clock_gettime(clock, &time)", "let now = ContinuousClock.now", "timer.schedule(deadline: .now() + 1)",
            "let t = DispatchTime.now()", "time(nil)", #"log("\(time(nil)) s")"#,
        ]
    )
    func readings(line: String) {
        #expect(!TimeRules.readings(in: file(line)).isEmpty)
        #expect(TimeRules.readings(in: file(line, at: "Sources/countdownd/Clock/Clocks.swift")).isEmpty)
        #expect(TimeRules.readings(in: file(line, at: "Sources/countdownctl/Show.swift")).isEmpty)
    }

    @Test(
        "what only looks like a clock is not",
        arguments: [
            "let (now, step) = clocks.now()", "// clock_gettime", #"log("clock_gettime")"#, "let my_clock_gettimes = 1",
        ]
    )
    func noReadings(line: String) {
        #expect(TimeRules.readings(in: file(line)).isEmpty)
    }

    @Test("clocks asked by another than the actor are found")
    func callers() {
        let line = "let now = clocks.now()"
        #expect(!TimeRules.callers(in: file("struct Store {}\n\(line)"), actors: ["Daemon"]).isEmpty)
        #expect(TimeRules.callers(in: file("actor Daemon {\n\(line)"), actors: ["Daemon"]).isEmpty)
        #expect(TimeRules.callers(in: file("extension Daemon: Turn {\n\(line)"), actors: ["Daemon"]).isEmpty)
    }

    @Test(
        "a second timer is found",
        arguments: [
            "DispatchSource.makeTimerSource(queue: queue)", "queue.asyncAfter(deadline: then) {}", "usleep(10)",
        ]
    )
    func timers(line: String) {
        #expect(!TimeRules.timers(in: file(line)).isEmpty)
        #expect(TimeRules.timers(in: file(line, at: "Sources/countdownd/Clock/Alarm.swift")).isEmpty)
    }

    @Test("an actor that gives way is found, in an extension too")
    func suspensions() {
        #expect(file("final actor Daemon: Sendable {}").actors == ["Daemon"])
        #expect(!OwnershipRules.suspensions(in: file("extension Daemon {\nawait other()"), actors: ["Daemon"]).isEmpty)
        #expect(OwnershipRules.suspensions(in: file("// await\nactor Daemon {}"), actors: ["Daemon"]).isEmpty)
        #expect(OwnershipRules.suspensions(in: file("await daemon.run()"), actors: ["Daemon"]).isEmpty)
    }

    @Test(
        "a lock is found",
        arguments: ["let lock = Mutex(0)", "pthread_mutex_lock(&lock)", "DispatchSemaphore(value: 1)"]
    )
    func locks(line: String) {
        #expect(!OwnershipRules.locks(in: file(line)).isEmpty)
    }

    @Test(
        "a promise that the compiler cannot check is found",
        arguments: [
            "final class A: @unchecked Sendable {}", "nonisolated(unsafe) var count = 0",
            "@preconcurrency import Dispatch",
        ]
    )
    func promises(line: String) {
        #expect(!OwnershipRules.promises(in: file(line)).isEmpty)
    }

    @Test(
        "what may trap is found",
        arguments: [
            "try! run()", "let a = b as! C", "fatalError()", "let a = b!", "f(a!)", "a[0]!.b", "f()!", "var a: String!",
            "a?.b!", #"print("\(a!)")"#,
        ]
    )
    func traps(line: String) {
        #expect(!TrapRules.traps(in: file(line)).isEmpty)
    }

    @Test(
        "negation, inequality and exclamation in words are no traps",
        arguments: [
            "if !a { }", "a != b", "a!=b", "f(!a)", #"print("stop!")"#, "// really!", ##"print(#"\(a!)"#)"##,
            "/* a! /* b! */ c! */",
        ]
    )
    func noTraps(line: String) {
        #expect(TrapRules.traps(in: file(line)).isEmpty)
    }

    @Test("Foundation is found in any of its parts")
    func foundation() {
        #expect(!TrapRules.foundation(in: file("import FoundationEssentials")).isEmpty)
        #expect(TrapRules.foundation(in: file("import Glibc")).isEmpty)
    }

    @Test(
        "a public declaration without its comment is found",
        arguments: [
            "// a note\npublic var a = 1", "/// a\npublic struct A {\n    public let b: Int\n\n    public let c: Int",
            "@inlinable public func a() {}", "/// text\n\npublic enum A {}", "    public static func make() {}",
            "public init(_ text: String) throws {",
        ]
    )
    func undocumented(text: String) {
        #expect(undocumentedLines(of: text).count == 1)
    }

    @Test(
        "what its own comment or that of its paragraph tells is documented",
        arguments: [
            "/// a\n@inlinable\npublic func a() {}", "/// a\npublic struct A {\n    public let b: Int",
            "public import IPC\nlet a = 1", "    public init(key: String) {",
            "    public static func == (left: A, right: A) -> Bool {",
        ]
    )
    func documented(text: String) {
        #expect(undocumentedLines(of: text).isEmpty)
    }

    @Test("a property that a protocol asks for is documented there")
    func requirement() {
        let text =
            "/// a\npublic protocol A {\n    /// The key.\n    var key: String { get }\n}\n\npublic struct B: A {}"
        #expect(undocumentedLines(of: "\(text)\n\n    public var key: String").count == 1)
        #expect(undocumentedLines(of: "\(text)\n\n    public var other: String").count == 2)
    }

    private func undocumentedLines(of text: String) -> [Violation] {
        let file = file(text)
        return DocumentationRules.undocumented(in: file, requirements: DocumentationRules.requirements(in: file))
    }

    @Test("a violation names its file and line")
    func place() {
        let found = TrapRules.traps(in: file("let text = \"\"\"\n  a!\n  \"\"\"\nlet b = c!"))
        #expect(found.map(\.description) == ["Sources/countdownd/Some.swift:4: try!, as! or a forced unwrapping"])
    }
}
