/// What is said where the daemon still runs that was there before an upgrade.
enum OlderDaemon {
    /// What starts the one that is installed; nothing is lost by it.
    static let remedy = "`systemctl --user restart countdownd` starts the one that is installed"

    /// That the daemon does not know something of the interface, which this program does.
    static func doesNotKnow(_ name: String) -> String {
        "the daemon does not know \(quoted(name)): it is older than this countdownctl; \(remedy)"
    }
}
