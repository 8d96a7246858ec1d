import CountdownCore
import Fleet

/// Hosts and an engine, with a network that a test moves by hand.
final class Scene {
    var engine = Engine(at: noon)
    private(set) var hosts: [FleetHost] = []
    private(set) var now = noon
    private var lastCall = 0

    init(hosts count: UInt64 = 2, options: Member.Options = Member.Options()) {
        for number in 0..<count {
            hosts.append(FleetHost(number + 1, options: options))
            follow(Int(number))
        }
    }

    var time: Now { engineTime(now) }

    func pass(_ duration: Duration) { now = now + duration }

    func turn(_ number: Int, budget: Int = .max, _ body: (FleetHost) -> Void = { _ in }) {
        hosts[number].turn(at: time, budget: budget, body)
    }

    // MARK: Calls

    /// Makes calls in one turn.
    ///
    /// - Returns: their numbers.
    @discardableResult
    func call(_ number: Int, _ requests: Request...) -> [Int] {
        let calls = requests.map { _ in
            lastCall += 1
            return lastCall
        }
        turn(number) { host in
            for (call, request) in zip(calls, requests) { host.member.call(call, request, at: time) }
        }
        return calls
    }

    func result(_ call: Int) -> CallResult? { hosts.compactMap { $0.results[call]?.result }.first }

    /// The result in a word; nil if there is none.
    func word(_ call: Int) -> String? {
        switch result(call) {
        case .changed(let kind, _): kind.rawValue
        case .attached: "attached"
        case .refused: "refused"
        case .notMade: "notMade"
        case .unknown: "unknown"
        case nil: nil
        }
    }

    // MARK: The network

    func take(_ number: Int) -> [Proposal] { hosts[number].member.takeProposals() }

    func answer(_ number: Int, _ answers: [Answer], to proposals: [Proposal]) {
        turn(number) { $0.receive(answers, to: proposals, at: time) }
    }

    /// Lets the engine carry out the proposals that a host must send, until it has nothing more.
    ///
    /// - Returns: how many calls to the engine that took.
    @discardableResult
    func exchange(_ number: Int) -> Int {
        var rounds = 0
        while rounds < 100 {
            let proposals = take(number)
            guard !proposals.isEmpty else { break }
            rounds += 1
            answer(number, engine.propose(proposals, at: now), to: proposals)
        }
        return rounds
    }

    /// Opens the stream that a host asks for, and lets it read everything.
    func follow(_ number: Int) {
        let host = hosts[number]
        while let opening = host.takeOpening() {
            let answer = opening.after.map(engine.resume)
            if let answer { turn(number) { $0.receive(answer, at: time) } }
            if host.opening != nil { continue }
            if case .resumed = answer {
                deliver(number)
            } else {
                let entries = engine.records.values.sorted { $0.version < $1.version }
                turn(number) { $0.receive(.page(entries, engine.position), at: time) }
            }
            turn(number) { $0.receive(.live, at: time) }
        }
    }

    /// Sends a host the log behind its cursor.
    func deliver(_ number: Int) {
        let host = hosts[number]
        guard let position = host.member.cursor.position else { return }
        let entries = engine.entries(after: position.version)
        turn(number) { $0.receive(.changes(entries), at: time) }
    }

    func deliverAll() { hosts.indices.forEach(deliver) }

    /// Cuts the stream of a host.
    func cut(_ number: Int) { turn(number) { $0.receive(.lost("cut"), at: time) } }

    /// Opens the stream of a host again.
    func reopen(_ number: Int) {
        turn(number) { $0.reopen() }
        follow(number)
    }
}

extension Request {
    /// A start of `k`.
    static func start(
        _ seconds: Int64 = 60,
        _ ifLive: IfLive = .attach,
        key text: String = "k",
        label: String? = nil,
        forget: Bool = false
    ) -> Request {
        .start(Start(FleetTests.key(text), .after(.seconds(seconds)), ifLive: ifLive, label: label, forget: forget))
    }
}
