import IPC
import TestSupport

/// Clients of all hosts that take tokens of one rate, one call after the other, and the fates of their calls.
struct RateLoad {
    /// A call that was accepted, by the time of the test.
    private struct Token {
        let sent: ContinuousClock.Instant
        let answered: ContinuousClock.Instant
    }

    private struct Client {
        let host: Host
        var caller: Caller?
        var sent: ContinuousClock.Instant?
    }

    private let call: Start
    private let token: Duration
    private let burst: Int
    private var clients: [Client]
    private var tokens: [Token] = []
    /// How many calls were refused.
    private(set) var refusals = 0
    /// The errors of the calls that were neither accepted nor refused.
    private(set) var failures: [CountdownError] = []

    /// How many calls were accepted.
    var accepted: Int { tokens.count }

    init(_ hosts: [Host], key: String = "rate", every token: Duration, burst: Int, clientsOfHost: Int = 2) {
        let duration = token.microseconds
        call = Start(key: key, durationUSec: duration, ifRunning: .extend, upToUSec: duration * Int64(burst))
        (self.token, self.burst) = (token, burst)
        clients = hosts.flatMap { host in (0..<clientsOfHost).map { _ in Client(host: host) } }
    }

    /// Lets every client call again and again while a condition holds.
    mutating func run(during condition: () throws -> Bool) throws {
        try waitUntil("the end of the calls") {
            for index in clients.indices where clients[index].sent == nil { send(index) }
            try receive()
            return try !condition()
        }
        while clients.contains(where: { $0.sent != nil }) { try receive() }
    }

    /// Makes as many calls as there are clients at once.
    mutating func runOnce() throws { try run { false } }

    private mutating func send(_ index: Int) {
        if clients[index].caller == nil { clients[index].caller = try? Caller(of: clients[index].host.daemon) }
        clients[index].sent = .now
        do { try clients[index].caller?.send(call) } catch { clients[index].caller = nil }
        if clients[index].caller == nil { clients[index].sent = nil }
    }

    private mutating func receive() throws {
        let waiting = clients.indices.filter { clients[$0].sent != nil }
        let connections = waiting.compactMap { clients[$0].caller?.connection }
        guard !connections.isEmpty else { return }
        for place in try RawConnection.awaitInput(on: connections, until: Deadline()) { try receive(waiting[place]) }
    }

    private mutating func receive(_ index: Int) throws {
        guard let caller = clients[index].caller, let sent = clients[index].sent else { return }
        clients[index].sent = nil
        do {
            _ = try caller.answer(to: Start.self)
            tokens.append(Token(sent: sent, answered: .now))
        } catch CountdownError.alreadyRunning {
            refusals += 1
        } catch let error as CountdownError {
            failures.append(error)
        } catch is SystemCallFailure, is RawConnection.Cut {
            clients[index].caller = nil
        }
    }

    /// The greatest number of tokens above the limit in any time from a call to an answer; 0 or less if the limit was kept.
    var excess: Int {
        var most = Int.min
        let ends = tokens.map(\.answered).sorted()
        let answered = tokens.sorted { $0.answered < $1.answered }
        for begin in Set(tokens.map(\.sent)) {
            var count = 0
            for (place, token) in answered.enumerated() where token.sent >= begin {
                count += 1
                let allowed = burst + Int((ends[place] - begin) / self.token) + 1
                most = max(most, count - allowed)
            }
        }
        return most
    }
}
