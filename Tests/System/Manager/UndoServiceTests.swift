import TestSupport
import Testing

@Suite("The units that undo changes, under systemd", .onMachine)
struct UndoServiceTests {
    private let session: Session

    init() throws { session = try Session(of: .rosa) }

    private func exists(_ path: String) throws -> Bool {
        try session.machine.shell(session.user, "test -e \(path) && echo yes || :") == "yes"
    }

    private func state() throws -> String {
        try session.systemctl("show", "--value", "--property=ActiveState", "countdown-undo.service")
    }

    /// Kills the user's service manager, with which all of the user's services end.
    private func killManager() throws {
        let unit = "user@\(session.user.id).service"
        try session.machine.tell(.root, "systemctl", "kill", "--signal=KILL", "--kill-who=main", unit)
        try waitUntil("the manager to be killed") {
            try session.machine.shell(.root, "systemctl is-active \(unit) || :") != "active"
        }
    }

    @Test(
        "a change starts the service, and is undone after kills of the service and of its manager, and in the next session"
    )
    func undoes() throws {
        try session.countdownctl("temporarily c 1h --undo \"rm -f $HOME/on\" -- touch ~/on")
        try waitUntil("the service to start") { try state() == "active" }
        try session.systemctl("kill", "--signal=KILL", "countdown-undo.service")
        try session.countdownctl("cancel undo/c")
        try waitUntil("it to be undone, and the service to end") { try !exists("~/on") && state() == "inactive" }

        for end in [session.logOut, killManager] {
            try session.countdownctl("temporarily c 1h --undo \"rm -f $HOME/on\" -- touch ~/on")
            try end()
            #expect(try exists("~/on"))
            try session.logIn()
            try session.countdownctl("finish undo/c")
            try waitUntil("it to be undone in the next session") { try !exists("~/on") && state() == "inactive" }
        }
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

    @Test("the recipes for a service and for a log level change something, and their undo puts it back")
    func recipes() throws {
        let folder = "$HOME/.config/systemd/user"
        let unit = "[Service]\nExecStart=/bin/sleep infinity"
        try session.machine.shell(session.user, "mkdir -p \(folder); printf '\(unit)' > \(folder)/syncthing.service")
        try session.systemctl("daemon-reload")
        try session.systemctl("start", "syncthing.service")
        try session.systemctl("log-level", "info")
        let states = [
            "service": ("show --value --property=ActiveState syncthing", ["active", "inactive", "active"]),
            "log": ("log-level", ["info", "debug", "info"]),
        ]
        for (name, (query, expected)) in states {
            let words = try #require(try UndoRecipes.read()[name])
            var seen = [try session.systemctl(query)]
            try session.machine.shell(session.user, words)
            seen.append(try session.systemctl(query))
            try session.countdownctl("undo \(words.split(separator: " ")[2])")
            seen.append(try session.systemctl(query))
            #expect(seen == expected, "\(name)")
        }
        try session.systemctl("stop", "syncthing.service")
        #expect(try UndoRecipes.read().keys.sorted() == ["dnd", "firewall", "log", "pihole", "service"])
    }
}
