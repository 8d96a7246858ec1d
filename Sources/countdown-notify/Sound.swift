import Glibc
import System
import Text

/// A sound that the program plays. The raw value is its name in the Sound Naming Specification.
enum Sound: String {
    case alarm = "alarm-clock-elapsed"
    case warning = "dialog-warning"
}

/// The theme `freedesktop` of the Sound Theme Specification, to which all themes fall back.
struct SoundTheme {
    enum Finding: Equatable {
        case file(String)
        /// The theme says that this sound is not to be played.
        case disabled
        case missing
    }

    /// The extensions in the order of the specification.
    private static let extensions = ["disabled", "oga", "ogg", "wav"]

    /// The folders that have a folder `sounds`, the most important one first.
    private let folders: [String]

    init(environment: (String) -> String? = Environment.value) {
        let home = environment("XDG_DATA_HOME") ?? environment("HOME").map { "\($0)/.local/share" }
        let system = environment("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
        folders = ([home].compactMap(\.self) + system.split(separator: ":").map(String.init)).filter {
            // The XDG Base Directory Specification ignores relative paths.
            $0.hasPrefix("/")
        }
    }

    func find(_ sound: Sound) -> Finding {
        for folder in folders {
            for suffix in Self.extensions {
                let path = "\(folder)/sounds/freedesktop/stereo/\(sound.rawValue).\(suffix)"
                guard unsafe access(path, R_OK) == 0 else { continue }
                return suffix == "disabled" ? .disabled : .file(path)
            }
        }
        return .missing
    }
}

/// Plays sounds, one at a time, by the first program of those on PATH that can.
final class SoundPlayer {
    /// A program that plays a file and ends.
    struct Program: Equatable {
        let name: String
        let arguments: [String]

        /// Whether it is in a folder of PATH.
        var isInstalled: Bool { ProgramSearch.find(name, path: Environment.value(of: "PATH") ?? "") != nil }

        func words(_ file: String) -> [String] { [name] + arguments + [file] }

        /// PulseAudio's player is the first, because PipeWire serves it, too. PipeWire's own waits forever if PipeWire
        /// runs beside PulseAudio for video only. The one of libcanberra needs a display.
        static let all = [
            Program(name: "paplay", arguments: ["--client-name=Countdowns", "--property=media.role=alarm"]),
            Program(name: "pw-play", arguments: ["--media-role=Notification"]),
            Program(name: "canberra-gtk-play", arguments: ["--file"]),
        ]
    }

    enum Outcome: Equatable {
        case played(Sound)
        /// It was not played, for this reason.
        case failed(Sound, String)
    }

    private struct Play {
        let sound: Sound
        let file: String
        let process: StartedProcess
        var limit: TimeLimit
        /// The programs to try if this one fails, the current one first.
        var programs: ArraySlice<Program>
        /// Why the earlier ones failed.
        var failures: [String]
    }

    private static let pauseUSec: Int64 = 1_000_000

    private let alarm: String?
    private let theme: SoundTheme
    /// In the order in which they are tried: the last one that succeeded comes first.
    private var programs: [Program]
    /// How long a player may take. One that hangs must not keep the next ends from being heard.
    private let limitUSec: Int64
    private var play: Play?
    /// Killed, and not reaped yet.
    private var stopped: [StartedProcess] = []
    /// How a sound ended that was not begun.
    private var outcome: Outcome?
    /// The pause after a sound.
    private var pause: MonotonicDeadline?

    /// Plays the file as the alarm, or if it is nil, the theme's; other sounds are the theme's.
    init(
        alarm: String?,
        theme: SoundTheme = SoundTheme(),
        programs: [Program] = Program.all,
        limitUSec: Int64 = 600_000_000
    ) {
        self.alarm = alarm
        (self.programs, self.limitUSec) = (programs, limitUSec)
        self.theme = theme
    }

    /// Whether a sound is being played, or its outcome was not taken yet.
    var isPlaying: Bool { play != nil || outcome != nil }

    /// Whether the alarm may be played: no sound is being played, and the pause after the last one is over.
    var isReady: Bool { !isPlaying && pause?.hasPassed ?? true }

    /// When to call `advance` though no child has ended; nil for never.
    var deadline: MonotonicDeadline? { outcome == nil ? play?.limit.deadline ?? pause : .passed }

    /// The name of the program that played the last sound.
    var programName: String { programs.first?.name ?? "" }

    /// Begins a sound. Another one must not be playing.
    func begin(_ sound: Sound) {
        pause = nil
        switch find(sound) {
        case .file(let path): start(sound, path, programs.filter(\.isInstalled)[...], failures: [])
        case .disabled: outcome = .played(sound)
        case .missing: outcome = .failed(sound, Self.noFile(of: sound))
        }
    }

    /// Why a sound cannot be heard, as far as that is known before it is played.
    func shortage(of sound: Sound) -> String? {
        switch find(sound) {
        case .file: programs.contains(where: \.isInstalled) ? nil : Self.noPlayer
        case .disabled: "the sound theme disables \(sound.rawValue)"
        case .missing: Self.noFile(of: sound)
        }
    }

    private static let noPlayer = "no player; install paplay (pulseaudio-utils) or pw-play (pipewire-bin)"

    private static func noFile(of sound: Sound) -> String {
        "the sound \(sound.rawValue) is in no sound theme; install sound-theme-freedesktop"
    }

    private func find(_ sound: Sound) -> SoundTheme.Finding {
        if sound == .alarm, let alarm { return .file(alarm) }
        return theme.find(sound)
    }

    /// Reaps children that have ended, after SIGCHLD. Returns the outcome of a sound that has ended and was not
    /// stopped.
    func advance() -> Outcome? {
        stopped.removeAll { $0.ending() != nil }
        if let play, let ending = play.process.ending() {
            self.play = nil
            proceed(play, ending)
        } else if let signal = play?.limit.takeSignal() {
            play?.process.send(signal)
        }
        defer { outcome = nil }
        if case .played = outcome { pause = .after(microseconds: Self.pauseUSec) }
        return outcome
    }

    /// Stops the alarm at once if it is being played, and the pause after it.
    func stopAlarm() {
        pause = nil
        if play?.sound == .alarm { stop() }
    }

    /// Stops the sound at once.
    func stop() {
        outcome = nil
        guard let play else { return }
        self.play = nil
        play.process.send(SIGKILL)
        stopped.append(play.process)
    }

    private func proceed(_ play: Play, _ ending: ProcessEnding) {
        guard let program = play.programs.first else { return }
        let reason: String
        switch ending {
        case _ where play.limit.hasPassed:
            reason = "it takes longer than \(ApproximateDuration.text(limitUSec))"
        case .exited(code: 0):
            programs = [program] + programs.filter { $0 != program }
            outcome = .played(play.sound)
            return
        case .exited(let code): reason = "exit code \(code)"
        case .killed(let signal): reason = "signal \(signal)"
        }
        let failures = play.failures + ["\(program.name): \(reason)"]
        start(play.sound, play.file, play.programs.dropFirst(), failures: failures)
    }

    private func start(_ sound: Sound, _ file: String, _ programs: ArraySlice<Program>, failures: [String]) {
        var (programs, failures) = (programs, failures)
        let nothing = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        while let program = programs.first {
            var launch = ProcessLaunch(words: program.words(file))
            if nothing >= 0 { (launch.input, launch.output, launch.errors) = (nothing, nothing, nothing) }
            do throws(ProcessLaunch.NotStarted) {
                let process = try launch.start()
                let limit = TimeLimit(microseconds: limitUSec)
                play = Play(
                    sound: sound,
                    file: file,
                    process: process,
                    limit: limit,
                    programs: programs,
                    failures: failures
                )
                return
            } catch {
                failures.append("\(error.name): \(systemMessage(error.errno))")
                programs = programs.dropFirst()
            }
        }
        outcome = .failed(sound, failures.isEmpty ? Self.noPlayer : failures.joined(separator: ", "))
    }
}
