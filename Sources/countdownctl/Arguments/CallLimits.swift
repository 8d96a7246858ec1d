import IPC
import Text
import Varlink

/// The limits of one call: a cooldown of its key, or the rates of `--rate` and `--also`.
struct CallLimits {
    struct Limit: Equatable {
        let key: String
        /// Nil for a cooldown.
        let rate: Rate?
    }

    /// At least one; the first one is of the call's key.
    let all: [Limit]

    /// Gives each limit its key: the first one of a key has it, each further one has the period behind it, so that the
    /// number of a rate may change and the key does not. The clients for Python and node have the same rule. The
    /// cooldown is in microseconds; nil if there are rates instead.
    init(of key: String, rates: [String], also: [String] = [], cooldown: Int64?) throws(CommandFailure) {
        var typed = try rates.map { text throws(CommandFailure) in (key, try Rate(text)) }
        for text in also {
            // A rate has no `=`, and a key may have several.
            guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
                throw .usage("invalid --also \(quoted(text)): use RATE=KEY, such as 20/1h=ip/1.2.3.4")
            }
            typed.append((try newKey(String(text[text.index(after: sign)...])), try Rate(String(text[..<sign]))))
        }
        var limits = cooldown == nil ? [] : [Limit(key: key, rate: nil)]
        var periods = cooldown.map { [key: [$0]] } ?? [:]
        for (owner, rate) in typed {
            let others = periods[owner, default: []]
            let period = DurationUnit.text(rate.period)
            guard !others.contains(rate.period) else {
                throw .usage("the period \(period) has two limits of the key \(quoted(owner)): use each period once")
            }
            periods[owner, default: []].append(rate.period)
            limits.append(Limit(key: others.isEmpty ? owner : "\(owner)/\(period)", rate: rate))
        }
        for (index, limit) in limits.enumerated() {
            let name = quoted(limit.key)
            guard limit.key.utf8.count <= 255 else { throw .usage("invalid key \(name): use 1 to 255 bytes") }
            guard !limits[..<index].contains(where: { $0.key == limit.key }) else {
                throw .usage("the key \(name) has two limits: use another key")
            }
        }
        guard limits.count <= 16 else { throw .usage("\(limits.count) limits: use at most 16") }
        all = limits
    }

    /// The rate of a key; nil for a cooldown.
    func rate(of key: String) -> Rate? { all.first { $0.key == key }?.rate }
}

extension Rate {
    /// The call's part that asks for one time of this rate.
    func cooldown(_ key: String, label: String? = nil, metadata: TextMap<String>? = nil) -> Cooldown {
        let (duration, upTo) = (Duration.microseconds(interval), Duration.microseconds(limit))
        return Cooldown(key, for: duration, upTo: upTo, label: label, metadata: metadata, forget: true)
    }
}

extension DurationUnit {
    /// A duration in its greatest whole unit, such as `90s` or `1d`.
    static func text(_ microseconds: Int64) -> String {
        let unit = allCases.last { microseconds.isMultiple(of: $0.microseconds) } ?? .microsecond
        return "\(microseconds / unit.microseconds)\(unit.symbol)"
    }
}

extension StartAll.Reply {
    /// Why it was refused, as the error of a start of the key that is free last; nil if it was accepted.
    var refusal: CommandFailure? {
        guard !accepted else { return nil }
        let full = rooms.filter { $0.left == 0 }
        let last = full.first { $0.moreUSec == nil } ?? full.max { $0.moreUSec ?? 0 < $1.moreUSec ?? 0 }
        guard let countdown = last?.countdown else {
            return CommandFailure(.invalidReply(method: StartAll.name, member: "rooms"))
        }
        return CommandFailure(.alreadyRunning(countdown, retryAfter: retryAfterUSec.map(Duration.microseconds)))
    }
}
