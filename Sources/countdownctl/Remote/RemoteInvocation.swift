import Glibc
import IPC

/// What was typed with `--host`: a command for the daemon of another machine.
struct RemoteInvocation: Equatable {
    static let option = "--host"
    /// Names the machine to the program that is run for its daemon.
    private static let variable = "COUNTDOWND_HOST"

    /// Whether this program is that one, so what it finds on this machine says nothing of the daemon's.
    static var isInside: Bool { Environment.value(of: variable) != nil }

    /// The machine, and the user there, as ssh(1) takes them.
    let host: String
    /// What was typed besides.
    let arguments: [String]

    /// Nil where no host is named. What stands behind `--` is left alone.
    ///
    /// - Throws: what is wrong with the host.
    init?(_ typed: [String]) throws(Failure) {
        let end = typed.firstIndex(of: "--") ?? typed.endIndex
        guard let place = typed[..<end].firstIndex(where: Self.isOption)
        else { return nil }
        let isApart = typed[place] == Self.option
        let value = isApart ? typed[..<end].dropFirst(place + 1).first : String(typed[place].dropFirst(7))
        // What begins so would be an option of ssh.
        guard let value, !value.isEmpty, !value.hasPrefix("-") else {
            throw .usage("which host? `countdownctl --host alice@example.org list`")
        }
        host = value
        arguments = Array(typed[..<place] + typed[(place + (isApart ? 2 : 1))...])
    }

    /// Whether a word that was typed is the option, with its value or without.
    static func isOption(_ word: String) -> Bool { word == option || word.hasPrefix("\(option)=") }

    /// Runs the program anew, for the daemon there.
    ///
    /// - Throws: why it cannot be reached.
    func run() throws(Failure) -> CommandStatus {
        let tunnel = try Tunnel.open(to: host)
        var command = ForegroundCommand(words: ["/proc/self/exe"] + arguments)
        command.variables = [(Address.variable, tunnel.path), (Self.variable, host)]
        command.support = tunnel.process
        let ending: ProcessEnding
        do {
            ending = try command.run()
        } catch {
            throw Failure(error)
        }
        if tunnel.process.hasEnded, ending == .killed(signal: SIGTERM) {
            throw Failure(.unavailable, "the login to \(quoted(host)) has ended")
        }
        return ending.status
    }
}
