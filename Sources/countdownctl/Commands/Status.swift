import ArgumentParser
import Glibc
import IPC
import System

struct StatusCommand: Subcommand {
    static let configuration = CommandConfiguration(
        subcommand: "status",
        abstract: "Show the state of the daemon, or of a countdown.",
        usage: "countdownctl status [KEY] [--all] [--format openmetrics] [options]",
        discussion: """
            Examples:
              countdownctl status
              countdownctl status --all          with its counters and limits
              countdownctl status --json
              countdownctl status --format openmetrics     for Prometheus
              countdownctl status tea            the same as show tea
            """
    )

    @Argument(help: "The key, or @next or @last.", completion: KeyCompletion.existing)
    var key: String?

    @Flag(name: .shortAndLong, help: "Show the counters and limits of the daemon, too.")
    var all = false

    @Option(help: ArgumentHelp("Print the figures of the daemon in this format.", valueName: "openmetrics"))
    var format: StatusFormat?

    @OptionGroup var options: OutputOptions

    func perform() throws -> ExitCode {
        let output = options.output
        guard format == nil || options.json == nil else { throw CommandFailure.usage("use either --json or --format") }
        if let key {
            guard format == nil else { throw CommandFailure.usage("use either a KEY or --format") }
            return try ShowCommand.show(KeyWord(typed: key), output)
        }
        let status = try DaemonEndpoint().call(GetStatus())
        if format == .openmetrics {
            try output.print(OpenMetrics.lines(of: status))
        } else if let style = output.json {
            try output.print(json: JSONText.object(status, style))
        } else if !output.isQuiet {
            let details = StatusDetails(
                status: status,
                clientVersion: Version.current,
                lingers: Lingering.mattersHere ? Lingering.isEnabled() : nil,
                all: all,
                clock: .local
            )
            try output.print(details.lines)
        }
        return .success
    }
}

/// A format of the daemon's figures.
enum StatusFormat: String, CaseIterable, ExpressibleByArgument {
    /// The text format of OpenMetrics.
    case openmetrics
}

/// Whether the services of a user run without a session of his, as systemd-logind keeps it.
enum Lingering {
    /// Whether the daemon may be the user's own: it is not if its address was given.
    static var mattersHere: Bool { !RemoteInvocation.isInside && Environment.value(of: "COUNTDOWND_SOCKET") == nil }

    /// Nil if the user's name is unknown.
    static func isEnabled() -> Bool? {
        guard let user = userName(uid: geteuid(), environment: Environment.value) else { return nil }
        return unsafe access("/var/lib/systemd/linger/\(user)", F_OK) == 0
    }

    /// The name in /etc/passwd or the environment: getpwuid(3) would load libraries into a static executable.
    private static func userName(uid: UInt32, environment: (String) -> String?) -> String? {
        userName(uid: uid, in: TextFile.lines(of: "/etc/passwd")) ?? environment("USER") ?? environment("LOGNAME")
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

/// A file that the system keeps as text.
private enum TextFile {
    /// Its lines; empty if it cannot be read.
    static func lines(of path: String) -> [Substring] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }
}
