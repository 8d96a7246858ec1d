import TestSupport
import Testing

@Suite("The units that undo changes, under systemd", .onMachine)
struct UndoServiceTests {
    private let session: Session

    init() throws { session = try Session(of: .rosa) }

    private func wait(until condition: () throws -> Bool, _ sentence: Comment) throws {
        let deadline = Deadline()
        while try !condition() {
            guard !deadline.hasPassed else {
                Issue.record(sentence)
                return
            }
        }
    }

    private func exists(_ path: String) throws -> Bool {
        try session.machine.shell(session.user, "test -e \(path) && echo yes || :") == "yes"
    }

    private func state() throws -> String {
        try session.systemctl("show", "--value", "--property=ActiveState", "countdown-undo.service")
    }

    @Test("a change starts the service, and is undone after a kill of the service, and in the next session")
    func undoes() throws {
        try session.countdownctl("temporarily c 1h --undo \"rm -f $HOME/on\" -- touch ~/on")
        try wait(until: { try state() == "active" }, "the service does not start")
        try session.systemctl("kill", "--signal=KILL", "countdown-undo.service")
        try session.countdownctl("cancel undo/c")
        try wait(until: { try !exists("~/on") && state() == "inactive" }, "it is not undone, or the service stays")

        try session.countdownctl("temporarily c 1h --undo \"rm -f $HOME/on\" -- touch ~/on")
        try session.logOut()
        #expect(try exists("~/on"))
        try session.logIn()
        try session.countdownctl("finish undo/c")
        try wait(until: { try !exists("~/on") && state() == "inactive" }, "it is not undone in the next session")
    }

    @Test("if the unit is masked, a change is refused, with the command that helps")
    func refuses() throws {
        try session.systemctl("mask", "--quiet", "--now", "countdown-undo.path")
        let words = "countdownctl temporarily m 1h --undo true -- touch ~/masked 2>&1 || echo $?"
        let refusal = try session.machine.shell(session.user, words)
        #expect(refusal.contains("`systemctl --user unmask countdown-undo.path`") && refusal.hasSuffix("69"))
        #expect(try !exists("~/masked"))
        try session.systemctl("unmask", "--quiet", "countdown-undo.path")
        try session.countdownctl("temporarily m 1h --undo \"rm -f $HOME/on\" -- touch ~/on")
        try session.countdownctl("keep m")
        #expect(try exists("~/on"))
    }
}
