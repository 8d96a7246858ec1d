import Glibc
import Text

/// The desktop notifications of a user as other programs see them: whether systemd starts countdown-notify for the user, and
/// the state that it reports in a file of its state directory.
public struct NotifierStatus: Equatable, Sendable {
    private static let program = "countdown-notify"

    /// Whether the service is enabled, for the user or for all users; nil if there is no systemd to start it.
    public let isEnabled: Bool?
    /// Where ends are shown and whether they ring, as a running countdown-notify reports it; nil if none runs.
    public let state: String?
    /// Whether a running countdown-notify wakes the machine from suspend.
    public let wakes: Bool

    /// A status, for tests.
    public init(isEnabled: Bool?, state: String?, wakes: Bool = false) {
        self.isEnabled = isEnabled
        self.state = state
        self.wakes = wakes
    }

    /// The present status; in tests a directory stands for `/`.
    public init(root: String = "", environment: (String) -> String? = Environment.value) {
        let home = environment("HOME")
        let folders = [environment("XDG_CONFIG_HOME") ?? home.map { "\($0)/.config" }, "\(root)/etc"].compactMap(\.self)
        let links = folders.flatMap { folder in
            ["graphical-session", "default"].map { "\(folder)/systemd/user/\($0).target.wants/\(Self.program).service" }
        }
        let hasSystemd = FileIdentity(of: "\(root)/run/systemd/system") != nil
        isEnabled = hasSystemd ? links.contains { FileIdentity(of: $0) != nil } : nil
        // The service's directory, and the directory of a countdown-notify that a session has started.
        let states = [home.map { "\($0)/.local/state" }, environment("XDG_STATE_HOME")].compactMap(\.self)
        let lines = states.lazy.compactMap { Self.report(in: "\($0)/\(Self.program)") }.first
        state = lines.map { String($0[1]) }
        wakes = lines?.last == Self.wakesLine
    }

    /// The state and, if something is missing, the command that helps.
    public var sentence: String {
        let start = "`systemctl --user start \(Self.program)`"
        let enable = "`systemctl --user enable --now \(Self.program)`"
        switch (state.map { PrintableText.escape($0) }, isEnabled) {
        case (let state?, false): return "\(state); not enabled, so not there after the next login: \(enable)"
        case (let state?, _): return state
        case (nil, true): return "not running, so ends are not shown: \(start)"
        case (nil, false): return "not enabled, so ends are not shown: \(enable)"
        case (nil, nil): return "not running, so ends are not shown: `\(Self.program) --session`"
        }
    }
}

// MARK: The file

extension NotifierStatus {
    private static let wakesLine: Substring = "wakes"

    /// Writes the state of this process for other programs, into its state directory: a line about where ends are shown
    /// and whether they ring, and whether it wakes the machine.
    public static func report(_ state: String, wakes: Bool, in directory: String) throws(SystemFailure) {
        try StoredText.replace("\(directory)/status", with: "\(getpid())\n\(state)\n\(wakes ? "\(wakesLine)\n" : "")")
    }

    /// The lines of the file: the process, the state, and whether it wakes the machine. Nil if the process has ended.
    private static func report(in directory: String) -> [Substring]? {
        guard let lines = try? StoredText.read("\(directory)/status")?.split(separator: "\n"), lines.count > 1,
            let process = pid_t(lines[0]), let name = try? StoredText.read("/proc/\(process)/comm")
        else { return nil }
        // The kernel keeps 15 bytes of a name.
        return name == "\(program.prefix(15))\n" ? lines : nil
    }
}
