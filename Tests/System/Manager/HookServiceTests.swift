import TestSupport
import Testing

@Suite("The template for hooks under systemd", .onMachine)
struct HookServiceTests {
    private let session: Session

    init() throws {
        session = try Session(of: .ivan)
    }

    /// Waits until a file of the user has these words.
    private func wait(for words: String, in path: String) throws {
        try waitUntil("\(words) in \(path)", by: Deadline(after: .seconds(60))) {
            try session.machine.shell(session.user, "cat \(path) 2> /dev/null || :").contains(words)
        }
    }

    private func end(_ keys: String...) throws {
        for key in keys {
            try session.countdownctl("start \(key) 1h")
            try session.countdownctl("finish \(key)")
        }
    }

    @Test("the instance names the hook, which has each end once, also those that came while it was stopped")
    func runs() throws {
        // Without a hook there is nothing to start.
        #expect(throws: Machine.Unexpected.self) { try session.systemctl("start", "countdown-hook@note.service") }
        let hook = "#!/bin/sh\necho \"$COUNTDOWN_EVENT $COUNTDOWN_KEY\" >> ~/notes\n"
        let place = "~/.config/countdownd/hooks"
        let save = "mkdir -p \(place); cat > \(place)/note; chmod +x \(place)/note"
        try session.machine.tell(session.user, "sh", "-euc", save, input: hook)
        try session.systemctl("enable", "--quiet", "--now", "countdown-hook@note.service")
        let cursor = "~/.local/state/countdown-hook/note"
        try wait(for: "1", in: cursor)
        try end("tea")
        try wait(for: "finished tea", in: "~/notes")

        try session.systemctl("stop", "countdown-hook@note.service")
        try end("egg", "call")
        try session.countdownctl("start cake 1h")
        let folder = "~/.config/systemd/user/countdown-hook@note.service.d"
        let dropIn = "[Service]\nEnvironment=\"OPTIONS=--on finished,cancelled egg ca[k]e\""
        try session.machine.tell(
            session.user,
            "sh",
            "-euc",
            "mkdir -p \(folder); cat > \(folder)/options.conf",
            input: dropIn
        )
        try session.systemctl("daemon-reload")
        try session.systemctl("start", "countdown-hook@note.service")
        try session.countdownctl("cancel cake")
        try wait(for: "cancelled cake", in: "~/notes")
        let notes = try session.machine.shell(session.user, "sort ~/notes")
        #expect(notes == "cancelled cake\nfinished egg\nfinished tea")
    }
}
