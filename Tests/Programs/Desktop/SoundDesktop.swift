import Foundation
import TestSupport

/// Programs that stand for the players of a desktop. Each start appends a line to a file: the name, the process and the
/// arguments.
struct FakePlayers {
    private let directory: TemporaryDirectory
    private var record: String { directory.path(of: "plays") }

    /// - Parameters:
    ///   - directory: the directory of the `NotifyProcess`.
    ///   - lines: the last line of the shell script of each player, by its name: `exit 0` plays.
    /// - Throws: why a file cannot be written.
    init(in directory: TemporaryDirectory, _ lines: [String: String]) throws {
        self.directory = directory
        try directory.makeDirectory("programs")
        for (name, line) in lines {
            try directory.write(program: "echo \(name) $$ \"$@\" >> \(record)\n\(line)", to: "programs/\(name)")
        }
    }

    /// The lines of the starts so far.
    var plays: [String] {
        let text = (try? String(contentsOfFile: record, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// Waits for a number of starts, and returns their lines.
    @discardableResult
    func awaitPlays(_ count: Int) throws -> [String] {
        try waitUntil("\(count) sounds to be played") { plays.count >= count }
        return plays
    }

    /// Waits until the process of a line has ended.
    func awaitEnd(of play: String) throws {
        let process = play.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        try waitUntil("process \(process) to end") { !FileManager.default.fileExists(atPath: "/proc/\(process)") }
    }

    /// Writes a sound file into a theme, for `XDG_DATA_DIRS`.
    static func theme(in directory: TemporaryDirectory) throws -> [String: String] {
        let folder = "theme/sounds/freedesktop/stereo"
        try directory.makeDirectory(folder)
        for name in ["alarm-clock-elapsed", "dialog-warning"] { try directory.write("", to: "\(folder)/\(name).oga") }
        return ["XDG_DATA_DIRS": directory.path(of: "theme")]
    }
}

/// A PulseAudio server with one sink, a room without ears: its monitor delivers what is played.
final class SoundServer {
    /// The variables by which a program finds the server and its players.
    let environment: [String: String]
    private let server: RunningCommand

    /// Whether the server and its clients are installed.
    static let isInstalled = ["pulseaudio", "paplay", "pactl", "parec"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }

    /// Starts a server and waits until it answers.
    init(in directory: TemporaryDirectory) throws {
        environment = ["XDG_RUNTIME_DIR": directory.path, "HOME": directory.path, "PATH": "/usr/bin"]
        server = try RunningCommand(
            [
                "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1",
                "--load=module-null-sink sink_name=room", "--load=module-native-protocol-unix",
            ],
            executable: "/usr/bin/pulseaudio",
            environment: environment
        )
        try waitUntil("PulseAudio to answer") { try control("info").exitCode == 0 }
    }

    /// Runs pactl.
    func control(_ arguments: String...) throws -> CommandRun {
        try RunningCommand(arguments, executable: "/usr/bin/pactl", environment: environment).finish()
    }

    /// The number of the streams that are being played.
    func streams() throws -> Int {
        try control("list", "short", "sink-inputs").standardOutput.split(separator: "\n").count
    }

    /// Records the room until something else than silence is heard. Samples of silence are 0, and sooner or later a sound
    /// has a byte that is a newline.
    func awaitSound() throws {
        let recording = try RunningCommand(
            ["--device=room.monitor", "--raw", "--latency-msec=50"],
            executable: "/usr/bin/parec",
            environment: environment
        )
        guard try recording.line() != nil else { throw NotificationServer.Gone(run: try recording.finish()) }
    }
}
