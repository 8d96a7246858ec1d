import Foundation
import IPC
import TestSupport
import Testing
import Varlink

@testable import countdownctl

/// The cases in clients/conformance/rates.json, which the clients for Python and node pass too.
@Suite("Several limits of one call")
struct CallLimitsTests {
    private struct Table: Decodable {
        let cases: [Case]
        let invalid: [Invalid]
    }

    struct Case: Decodable {
        struct Limit: Decodable {
            let rate: String
            let key: String
            let durationUSec: Int64
            let upToUSec: Int64
        }

        let name: String
        let key: String
        let limits: [Limit]
    }

    struct Invalid: Decodable {
        let name: String
        let key: String
        let rates: [String]
    }

    private static func table() throws -> Table {
        try JSONDecoder().decode(Table.self, from: Data(BuiltProduct.text(of: "clients/conformance/rates.json").utf8))
    }

    @Test("rates of one key have the keys and the parameters of the shared table")
    func cases() throws {
        let table = try Self.table()
        #expect(table.cases.count >= 8)
        for known in table.cases {
            let limits = try CallLimits(of: known.key, rates: known.limits.map(\.rate), cooldown: nil).all
            #expect(limits.map(\.key) == known.limits.map(\.key), "\(known.name)")
            #expect(limits.map(\.rate?.interval) == known.limits.map(\.durationUSec), "\(known.name)")
            #expect(limits.map(\.rate?.limit) == known.limits.map(\.upToUSec), "\(known.name)")
        }
    }

    @Test("invalid rates of the shared table are usage errors")
    func invalid() throws {
        let table = try Self.table()
        #expect(table.invalid.count >= 10)
        for known in table.invalid {
            let error = #expect(throws: CommandFailure.self, "\(known.name)") {
                try CallLimits(of: known.key, rates: known.rates, cooldown: nil)
            }
            #expect(error?.exitCode == .usage, "\(known.name)")
        }
    }

    @Test("a rate comes first in --also, and its key may have equals signs and colons")
    func also() throws {
        let also = ["20/1h=ip/2001:db8::1", "3/1d=a=b", "30/1w=a=b"]
        let limits = try CallLimits(of: "phone", rates: [], also: also, cooldown: 5_000_000).all
        #expect(limits.map(\.key) == ["phone", "ip/2001:db8::1", "a=b", "a=b/1w"])
        #expect(limits.map { $0.rate == nil } == [true, false, false, false])
        let further = try CallLimits(of: "phone", rates: [], also: ["30/1d=phone"], cooldown: 5_000_000).all
        #expect(further.map(\.key) == ["phone", "phone/1d"])
    }

    @Test("a key that gets too long, and a limit too many, are usage errors")
    func bounds() throws {
        let key = String(repeating: "k", count: 253)
        #expect(throws: CommandFailure.self) { try CallLimits(of: key, rates: ["1/1s", "1/1d"], cooldown: nil) }
        let also = (0..<16).map { "1/1s=\($0)" }
        #expect(throws: CommandFailure.self) { try CallLimits(of: "k", rates: ["1/1s"], also: also, cooldown: nil) }
        #expect(try CallLimits(of: "k", rates: ["1/1s"], also: Array(also.dropLast()), cooldown: nil).all.count == 16)
    }

    @Test("the wait after failures doubles up to its maximum, and survives in the metadata")
    func backoff() throws {
        var waits: [Int64] = []
        var last: Int64?
        for _ in 0..<5 {
            let state = BackoffState(base: 60_000_000, most: 300_000_000, last: last)
            waits.append(state.next)
            var kept = countdown("k", 0, .finished)
            kept.metadata = BackoffState.metadata(state.next)
            last = BackoffState.wait(of: kept)
        }
        #expect(waits == [60, 120, 240, 300, 300].map { $0 * 1_000_000 })
        #expect(BackoffState.metadata(120_000_000)["backoff"] == "2m")
    }

    @Test("a claim is for one end, its token makes it ours if the reply was lost, and an old end is left alone")
    func claims() throws {
        func end(_ key: String, started: Int64) -> Countdown {
            var end = countdown(key, 0, .finished)
            (end.startedUSec, end.endedUSec) = (started, started + 1_000)
            return end
        }
        let claims = try EndClaims(name: "mail", length: 1_000_000)
        let tea = end("tea", started: 5)
        let keys = [tea, end("tea", started: 6), end("coffee", started: 5)].map(claims.key)
        #expect(Set(keys).count == 3 && keys.allSatisfy { $0.hasPrefix("claim/mail/") && $0.utf8.count == 43 })
        #expect(try EndClaims(name: "mail", length: 7).key(of: tea) == keys[0])
        let own = claims.start(of: tea)
        #expect(own.forget == nil && own.ifRunning == .fail && own.metadata?["cooldown"] == "yes")
        /// With the answers to both calls, which are made at this time and take so long.
        func verdict(
            _ answer: CountdownError?,
            found: Countdown? = nil,
            at boot: Int64 = 20_000,
            taking length: Int64 = 0
        ) -> EndClaims.Verdict {
            var readings = [boot, boot + length].makeIterator()
            return claims.verdict(
                on: tea,
                noticed: 11_000,
                clock: { readings.next() ?? .max },
                find: { _ throws(CommandFailure) in found },
                start: { _ throws(CommandFailure) in
                    if let answer { throw CommandFailure(answer) }
                }
            )
        }
        var claim = end("claim", started: 1)
        (claim.state, claim.metadata) = (.running, own.metadata)
        #expect(verdict(nil) == .ours)
        #expect(verdict(.alreadyRunning(claim, retryAfter: nil), found: claim) == .ours)
        claim.metadata = try EndClaims(name: "mail", length: 7).start(of: tea).metadata
        #expect(verdict(.alreadyRunning(claim, retryAfter: nil), found: claim) == .taken)
        for error in [CountdownError.storageFailed(reason: "full"), .unreachable(reason: "away")] {
            guard case .unknown = verdict(error) else {
                Issue.record("\(error) is tried again")
                continue
            }
        }
        for state in [Countdown.State.finished, .cancelled] {
            claim.state = state
            #expect(verdict(nil, found: claim) == .taken, "a claim that has ended counts, too")
        }
        claim.metadata = own.metadata
        #expect(verdict(nil, found: claim) == .ours, "the reply was lost, and the claim ended meanwhile")
        #expect(verdict(nil, at: 1_010_999) == .ours)
        #expect(verdict(nil, at: 1_011_000) == .tooOld)
        #expect(verdict(nil, taking: 999_999) == .ours)
        #expect(verdict(nil, taking: 1_000_000) == .tooOld, "another claim may have begun and ended meanwhile")
        for name in ["", "a\nb", String(repeating: "x", count: 201)] {
            #expect(throws: CommandFailure.self) { try EndClaims(name: name, length: 1) }
        }
    }
}
