import Testing

/// The rules that hold the house together, kept over the text of every file in Sources/.
@Suite("The house")
struct HouseTests {
    private let files = SourceFile.all

    /// The daemon's own actors: those that are handed the clocks.
    private var actors: Set<String> {
        files.filter { $0.target == "countdownd" }.reduce(into: []) { $0.formUnion($1.actors) }
    }

    @Test("every target's files are found")
    func everyTarget() {
        let targets = Set(files.map(\.target))
        let known: Set = [
            "System", "CountdownCore", "Varlink", "IPC", "countdownd", "countdownctl", "countdown-notify",
        ]
        #expect(targets.isSuperset(of: known))
        #expect(targets.isSubset(of: ImportRules.allowed.keys))
    }

    @Test("a target imports what its row in the table allows, the core nothing")
    func imports() {
        #expect(files.flatMap(ImportRules.strangers).isEmpty)
    }

    @Test("core and interface meet in the daemon's translation alone")
    func meetings() {
        #expect(files.flatMap(ImportRules.meetings).isEmpty)
    }

    @Test("the daemon's clocks are read in one file")
    func clocks() {
        #expect(files.flatMap(TimeRules.readings).isEmpty)
    }

    @Test("the actor alone asks what time it is")
    func callersOfClocks() {
        let actors = actors
        #expect(files.flatMap { TimeRules.callers(in: $0, actors: actors) }.isEmpty)
    }

    @Test("the alarm is the one timer")
    func timers() {
        #expect(files.flatMap(TimeRules.timers).isEmpty)
    }

    @Test("an actor never gives way")
    func suspensions() {
        let actors = actors
        #expect(files.flatMap { OwnershipRules.suspensions(in: $0, actors: actors) }.isEmpty)
    }

    @Test("nothing is shared by a lock")
    func locks() {
        #expect(files.flatMap(OwnershipRules.locks).isEmpty)
    }

    @Test("one file alone shares a number with another thread")
    func sharedNumbers() {
        #expect(files.flatMap(OwnershipRules.sharedNumbers).isEmpty)
    }

    @Test("nothing is kept from the compiler's eyes")
    func promises() {
        #expect(files.flatMap(OwnershipRules.promises).isEmpty)
    }

    @Test("nothing is forced that could trap")
    func traps() {
        #expect(files.flatMap(TrapRules.traps).isEmpty)
    }

    @Test("Foundation is imported nowhere")
    func foundation() {
        #expect(files.flatMap(TrapRules.foundation).isEmpty)
    }

    @Test("every public declaration is documented")
    func documentation() {
        let requirements: Set<String> = files.reduce(into: []) { $0.formUnion(DocumentationRules.requirements(in: $1)) }
        #expect(files.flatMap { DocumentationRules.undocumented(in: $0, requirements: requirements) }.isEmpty)
    }
}
