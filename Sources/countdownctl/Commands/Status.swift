import ArgumentParser
import Glibc
import IPC
import System
import Varlink

struct StatusCommand: Subcommand {
    static var name: CommandName { .status }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Show the state of the daemon, or of a countdown.",
        usage: "countdownctl status [KEY] [--all] [--format FORMAT] [options]",
        discussion: """
            Examples:
              countdownctl status
              countdownctl status --all          with its counters and limits
              countdownctl status --json
              countdownctl status --format openmetrics     for Prometheus
              countdownctl status --format prometheus      for a node exporter's textfiles
              countdownctl status tea            the same as show tea
            """
    )

    @Argument(help: "The key, or @next or @last.", completion: KeyCompletion.existing)
    var key: String?

    @Flag(name: .shortAndLong, help: "Show the counters and limits of the daemon, too.")
    var all = false

    @Option(help: ArgumentHelp("Print the figures of the daemon in this format.", valueName: "openmetrics|prometheus"))
    var format: StatusFormat?

    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let output = options.output
        guard format == nil || !options.json else { throw CommandFailure.usage("use either --json or --format") }
        if let key {
            guard format == nil else { throw CommandFailure.usage("use either a KEY or --format") }
            return try ShowCommand.show(KeyWord(typed: key), output)
        }
        let daemon = try DaemonEndpoint()
        let status = try daemon.call(GetStatus())
        if let format {
            // A node exporter reads the files of several daemons, whose samples must differ. The socket that ssh forwards has
            // another name each time.
            let isLocalFile = format == .prometheus && !RemoteInvocation.isInside
            let labels = isLocalFile ? [("socket", daemon.path)] : []
            try output.print(OpenMetrics.lines(of: status, in: format, labels: labels))
        } else if output.json {
            try output.print(json: JSONText.object(status))
        } else if !output.isQuiet {
            let details = StatusDetails(
                status: status,
                clientVersion: Version.current,
                lingers: Lingering.mattersHere ? Lingering.isEnabled() : nil,
                notifier: NotifierStatus.ofDesktop(),
                undos: Lingering.mattersHere ? UndoDirectory.present() : [],
                all: all,
                clock: .local
            )
            try output.print(details.lines)
        }
        return .success
    }
}

extension StatusFormat: ExpressibleByArgument {}

/// Whether the services of a user run without a session of his, as systemd-logind keeps it.
enum Lingering {
    /// Whether the daemon may be the user's own: it is not if its address was given.
    static var mattersHere: Bool { !RemoteInvocation.isInside && Environment.value(of: "COUNTDOWND_SOCKET") == nil }

    /// Nil if the user's name is unknown.
    static func isEnabled() -> Bool? {
        // getpwuid(3) would load libraries into a static executable.
        let users = ((try? StoredText.read("/etc/passwd")) ?? "").split(separator: "\n")
        let name = userName(uid: geteuid(), in: users) ?? ["USER", "LOGNAME"].lazy.compactMap(Environment.value).first
        return name.map { unsafe access("/var/lib/systemd/linger/\($0)", F_OK) == 0 }
    }

    /// The name of a user in lines in the form of passwd(5).
    static func userName(uid: UInt32, in lines: [Substring]) -> String? {
        for line in lines {
            let fields = line.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
            if fields.count == 4, UInt32(fields[2]) == uid { return String(fields[0]) }
        }
        return nil
    }
}

extension NotifierStatus {
    /// The status; nil if the daemon may be of another user or machine.
    static var local: NotifierStatus? { Lingering.mattersHere ? NotifierStatus() : nil }

    /// The status; nil if the daemon is not known to be of this user and machine, or no desktop is known: countdown-notify is
    /// neither enabled nor running, and the command was not typed in a session with a screen.
    static func ofDesktop() -> NotifierStatus? {
        guard let status = local else { return nil }
        let hasScreen = ["DISPLAY", "WAYLAND_DISPLAY"].contains { Environment.value(of: $0) != nil }
        return hasScreen || status.isEnabled == true || status.state != nil ? status : nil
    }

    /// The note that `wake=yes` has no effect; nil if it has, or is not known to have none.
    static func wakeNote(
        for metadata: TextMap<String>?,
        _ status: @autoclosure () -> NotifierStatus? = .local
    ) -> String? {
        guard metadata?["wake"] == "yes", status()?.wakes == false else { return nil }
        return "wake=yes has no effect: no countdown-notify with --wake runs; see countdown-notify(1)"
    }
}
