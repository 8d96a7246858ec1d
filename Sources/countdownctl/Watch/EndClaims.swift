import IPC
import Text
import Varlink

/// The claims of `watch --claim`: of all programs with one name, the one that starts the countdown of an end's claim runs the
/// command for that end.
struct EndClaims {
    enum Verdict: Equatable {
        case ours
        case taken
        /// The claim of another program may have ended already.
        case tooOld
        /// The daemon cannot say now, for this reason.
        case unknown(String)
    }

    private static let prefix = "claim/"

    let name: String
    /// How long a claim lasts, in microseconds.
    let length: Int64
    /// Has a token, by which this program recognizes its claim if the reply was lost.
    private let metadata = CooldownMark.ownMetadata()

    init(name: String, length: Int64) throws(CommandFailure) {
        guard (1...200).contains(name.utf8.count), !name.unicodeScalars.contains(where: { $0.value < 32 }) else {
            throw .usage("invalid --claim \(quoted(name)): use 1 to 200 bytes without control characters")
        }
        guard length > 0 else { throw .usage("--claim-for must be at least 1us") }
        self.name = name
        self.length = length
    }

    /// Whether a countdown is itself a claim.
    static func isClaim(_ countdown: Countdown) -> Bool {
        countdown.key.hasPrefix(prefix) && CooldownMark.marks(countdown)
    }

    /// The key of the claim of an end: the same on every host.
    func key(of countdown: Countdown) -> String {
        let text = "\(countdown.startedUSec)/\(countdown.key)"
        let digits = [0xCBF2_9CE4_8422_2325, 0x6C62_272E_07BB_0142].map { Self.hash(text, $0) }.joined()
        return "\(Self.prefix)\(name)/\(digits)"
    }

    /// The start of the claim of an end.
    func start(of countdown: Countdown) -> Start {
        Start(key: key(of: countdown), durationUSec: length, ifRunning: .fail, metadata: metadata, forget: true)
    }

    /// Whether this program runs the command for an end: `ours` at most once for all programs. `now` is of the system
    /// clock, and `call` makes the start.
    func verdict(
        on event: Event,
        _ countdown: Countdown,
        at now: Int64,
        _ call: (Start) throws(CommandFailure) -> Void
    ) -> Verdict {
        let noticed = (countdown.endedUSec ?? 0) + (event.lateUSec ?? 0)
        guard now - noticed < length else { return .tooOld }
        do throws(CommandFailure) {
            try call(start(of: countdown))
            return .ours
        } catch {
            guard case .alreadyRunning(let claim, _) = error.refusal else { return .unknown(error.sentence) }
            return claim.metadata?[CooldownMark.token] == metadata[CooldownMark.token] ? .ours : .taken
        }
    }

    /// FNV-1a with 64 bits, as 16 digits.
    private static func hash(_ text: String, _ basis: UInt64) -> String {
        hexadecimal(text.utf8.reduce(basis) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }, 16)
    }
}
