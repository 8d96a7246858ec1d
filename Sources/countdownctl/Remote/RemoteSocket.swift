import IPC

/// Where the daemon's socket is on another machine, as that says.
enum RemoteSocket: Equatable {
    case found(String)
    /// Nothing is where it should be.
    case missing(String)

    /// What every login shell there takes: it says where the socket is, by the rule of `Address`, and stays while
    /// somebody holds its standard input.
    static let command = """
        sh -c 'p=${\(Address.variable):-${XDG_RUNTIME_DIR:-/run/user/$(id -u)}/countdownd/io.countdownd}; \
        if [ -S "$p" ]; then echo "\(found)$p"; exec cat >/dev/null; else echo "\(missing)$p"; fi'
        """

    private static let found = "io.countdownd at "
    private static let missing = "io.countdownd not at "

    /// Nil where no whole line tells; a shell may say other things before.
    init?(in text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if line.hasPrefix(Self.found) {
                self = .found(String(line.dropFirst(Self.found.count)))
                return
            } else if line.hasPrefix(Self.missing) {
                self = .missing(String(line.dropFirst(Self.missing.count)))
                return
            }
        }
        return nil
    }
}
