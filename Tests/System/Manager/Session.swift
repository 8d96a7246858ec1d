import Foundation
import TestSupport

/// A user of the machine with a login: the user's service manager runs, and our socket is enabled.
struct Session {
    let machine: Machine
    let user: User

    /// Logs in for the first time, with a drop-in for our service if one is given.
    init(of user: User, dropIn: String? = nil) throws {
        machine = try Machine.shared.get()
        self.user = user
        if let dropIn { try write(dropIn) }
        try logIn()
        try systemctl("enable", "--quiet", "--now", "countdownd.socket")
    }

    func logIn() throws {
        try machine.tell(.root, "systemctl", "start", "user@\(user.id).service")
    }

    func logOut() throws {
        try machine.tell(.root, "systemctl", "stop", "user@\(user.id).service")
    }

    /// Writes the user's own drop-in of our service.
    func write(_ dropIn: String) throws {
        let folder = "$HOME/.config/systemd/user/countdownd.service.d"
        try machine.shell(user, "mkdir -p \(folder); cat > \(folder)/test.conf << 'END'\n\(dropIn)\nEND")
    }

    @discardableResult
    func systemctl(_ arguments: String...) throws -> String {
        try machine.shell(user, "systemctl --user \(arguments.joined(separator: " "))")
    }

    /// A property of our service.
    func property(_ name: String) throws -> String {
        try systemctl("show", "--value", "--property=\(name)", "countdownd.service")
    }

    /// Runs a line of countdownctl, which must succeed.
    @discardableResult
    func countdownctl(_ line: String) throws -> String {
        try machine.shell(user, "countdownctl \(line)")
    }

    /// The keys of the live countdowns.
    func keys() throws -> [String] {
        try countdownctl("list --json").matches(of: /"key":"([^"]*)"/).map { String($0.1) }
    }

    /// The log of the user's daemons, each line with its fields. The journal reads some of them from the running
    /// process, so they may be missing if it ended at once.
    func journal() throws -> [[String: String]] {
        try machine.journal("_UID=\(user.id)", "SYSLOG_IDENTIFIER=countdownd")
    }
}

/// A client that watches, over restarts of the daemon.
final class Watching {
    private let command: RunningCommand

    /// Watches, and waits for synced.
    init(in session: Session) throws {
        command = try session.machine.begin(as: session.user, ["countdownctl", "watch", "--json", "--tick", "0"])
        try events(through: "synced")
    }

    /// The events up to the next one of this type and key, such as `started tea`. Each connection begins with `synced`.
    @discardableResult
    func events(through last: String) throws -> [String] {
        var events: [String] = []
        while events.last != last, let line = try command.line() {
            let member = { (name: String) in line.firstMatch(of: try Regex("\"\(name)\":\"([^\"]*)\""))?[1].substring }
            let type = try member("type") ?? "?"
            events.append(try (type == "synced" ? nil : member("key")).map { "\(type) \($0)" } ?? String(type))
        }
        return events
    }
}
