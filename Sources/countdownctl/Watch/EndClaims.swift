import IPC
import Text
import Varlink

/// The claims of `watch --claim`: of all programs with one name, the one that starts the countdown of an end's claim runs the
/// command for that end.
///
/// A claim that has ended is kept for as long as the end, which came before it. So no program claims an end twice, whatever was done
/// to the system clock.
struct EndClaims {
    enum Verdict: Equatable {
        case ours
        case taken
        /// The end came longer ago than a claim lasts. On another machine of a fleet, which does not keep every claim that has ended,
        /// a claim may have ended already.
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
        Start(key: key(of: countdown), durationUSec: length, ifRunning: .fail, metadata: metadata)
    }

    /// Whether this program runs the command for an end: `ours` at most once for all programs.
    ///
    /// - Parameters:
    ///   - countdown: the countdown that has ended.
    ///   - noticed: when the daemon noticed the end, on the boot clock as far as it is known.
    ///   - clock: reads the boot clock.
    ///   - find: returns the countdown of a key, if one is known.
    ///   - start: makes the call that starts the claim.
    /// - Returns: whose claim it is.
    func verdict(
        on countdown: Countdown,
        noticed: Int64,
        clock: () -> Int64,
        find: (String) throws(CommandFailure) -> Countdown?,
        start: (Start) throws(CommandFailure) -> Void
    ) -> Verdict {
        let begin = clock()
        guard begin - noticed < length else { return .tooOld }
        let call = self.start(of: countdown)
        do throws(CommandFailure) {
            if let ended = try find(call.key), !ended.hasNotEnded { return owner(of: ended) }
            try start(call)
            // If this process was stopped meanwhile, another claim may have begun and ended.
            return clock() - begin < length ? .ours : .tooOld
        } catch {
            guard case .alreadyRunning(let claim, _) = error.refusal else { return .unknown(error.sentence) }
            return owner(of: claim)
        }
    }

    private func owner(of claim: Countdown) -> Verdict {
        claim.metadata?[CooldownMark.token] == metadata[CooldownMark.token] ? .ours : .taken
    }

    /// FNV-1a with 64 bits, as 16 digits.
    private static func hash(_ text: String, _ basis: UInt64) -> String {
        hexadecimal(text.utf8.reduce(basis) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }, 16)
    }
}
