import TestSupport

/// Daemons on one state directory, one after the other, with clients that call and watch all the time.
final class ModelRun {
    private let keptEnds: Int?
    private let directory: TemporaryDirectory
    private var random: SeededGenerator
    private let history: History
    private let callers: [Caller]
    private let waiters: [Caller]
    /// They queue for keys, one Start at a time.
    private let queuers: [Caller]
    /// Watches all countdowns as long as a daemon lives.
    private let auditor: Watcher
    private let watchers: [Watcher]
    private var answers: [(lists: [ListAnswer], stretch: Watcher.Stretch)] = []
    private var restarts = 0
    private(set) var kills = 0
    private var listsChecked = 0

    /// The keys that change all the time, and those that make the current state large.
    private static let keys = ["a", "b"].flatMap { group in (0..<20).map { "\(group)/\($0)" } }
    private static let steadyKeys = (0..<200).map { "steady/\($0)" }

    init(seed: UInt64, keptEnds: Int?) throws {
        self.keptEnds = keptEnds
        directory = try TemporaryDirectory()
        random = SeededGenerator(seed: seed)
        let history = History(keepsAllEnds: keptEnds == nil)
        self.history = history
        callers = (0..<6).map { Caller("caller \($0)", history: history) }
        waiters = (0..<3).map { Caller("waiter \($0)", history: history) }
        queuers = (0..<6).map { Caller("queuer \($0)", history: history) }
        auditor = Watcher("auditor", resumes: false, history: history)
        watchers = [
            Watcher("watcher of all", tickUSec: 100_000, history: history),
            Watcher("watcher of a", filter: Filter(match: ["a/*"]), history: history),
            Watcher("watcher of keys", filter: Filter(keys: ["a/1", "b/2", "b/3"]), history: history),
            Watcher(
                "watcher of both",
                filter: Filter(keys: ["a/1"], match: ["b/*"]),
                tickUSec: 200_000,
                history: history
            ),
            Watcher("watcher without since", filter: Filter(match: ["b/*"]), resumes: false, history: history),
        ]
    }

    /// Makes at least this many calls in all, and kills at least this many daemons.
    func run(calls: Int, kills: Int) throws -> [String] {
        let rounds = max(4, calls / 400)
        while restarts < rounds || self.kills < kills, history.faults.count < 100 {
            if chance(20) { try killOneThatStarts() }
            try live(calls: calls / rounds, first: restarts == 0)
        }
        try live(calls: 0, first: false)
        history.conclude()
        for watcher in watchers + [auditor] { watcher.conclude() }
        for (lists, stretch) in answers { listsChecked += history.check(lists, by: stretch) }
        return history.faults
    }

    var summary: String {
        """
        \(callers.reduce(0) { $0 + $1.answered }) calls, \(listsChecked) lists, \(waiters.reduce(0) { $0 + $1.answered }) waits, \
        \(queuers.reduce(0) { $0 + $1.answered }) queued starts, \
        \((watchers + [auditor]).reduce(0) { $0 + $1.events }) events, \
        \(watchers.reduce(0) { $0 + $1.resumptions }) watches resumed, \(watchers.reduce(0) { $0 + $1.trimmed }) of them \
        trimmed, \(restarts) daemons, \(kills) kills, \(history.records.count) revisions, \(history.checks) checks
        """
    }

    // MARK: The life of a daemon

    /// Every other daemon writes each change to the disk before it answers.
    private var arguments: [String] {
        ["--durability", restarts.isMultiple(of: 2) ? "process" : "power-loss"]
            + (keptEnds.map { ["--history", "\($0)"] } ?? [])
    }

    /// A kill may come before the daemon is ready, at any moment of its start.
    private func killOneThatStarts() throws {
        let daemon = try DaemonProcess(starting: [], in: directory, arguments: arguments)
        for _ in 0..<Int.random(in: 0..<3_000, using: &random) { _ = try? daemon.connect() }
        try note(daemon.kill(), of: daemon, isKill: true)
    }

    private func live(calls: Int, first: Bool) throws {
        let daemon = try DaemonProcess(in: directory, arguments: arguments)
        for caller in callers + waiters + queuers { try caller.connect(to: daemon) }
        try auditor.connect(to: daemon)
        try pump { self.auditor.isSynced || self.auditor.connection == nil }
        if first { try startSteadyKeys() } else { try askForAll() }
        for watcher in watchers { try watcher.connect(to: daemon) }
        let target = answered + calls
        while answered < target, history.faults.count < 100 {
            for caller in callers.dropFirst() where caller.pendingCount < 4 { try caller.send(randomCall()) }
            // More than the daemon executes in one turn, so that other calls are answered in between.
            if callers[0].pendingCount == 0, chance(25) { for _ in 0..<300 { try callers[0].send(randomStart()) } }
            for waiter in waiters where waiter.pendingCount == 0 { try waiter.send(call("Wait", Self.keys)) }
            for queuer in queuers where queuer.pendingCount == 0 { try queuer.send(queuedStart()) }
            if chance(10), let watcher = watchers.randomElement(using: &random) {
                if watcher.connection != nil { watcher.disconnect() } else { try watcher.connect(to: daemon) }
            }
            let pending = callers.reduce(0) { $0 + $1.pendingCount }
            try pump { self.callers.reduce(0) { $0 + $1.pendingCount } < pending }
        }
        if calls == 0 || Bool.random(using: &random) { try comeToRest(daemon) }
        try end(daemon)
    }

    private func startSteadyKeys() throws {
        for (index, key) in Self.steadyKeys.enumerated() {
            var start = Call(method: "Start")
            start.parameters.key = key
            start.parameters.durationUSec = 3_600_000_000 + index
            try callers[0].send(start)
            if index.isMultiple(of: 2) { try callers[0].send(call("Pause", [key])) }
        }
        try pump { self.callers[0].pendingCount == 0 }
    }

    /// Lists every countdown, so that a loss in the last daemon is noticed.
    private func askForAll() throws {
        for key in Self.keys { try callers[0].send(call("Get", [key])) }
        var list = Call(method: "List")
        list.parameters.keys = Self.keys
        if keptEnds == nil { list.parameters.states = ["running", "paused", "finished", "cancelled"] }
        try callers[0].send(list)
        list.parameters.states = nil
        list.parameters.keys = Self.steadyKeys
        list.more = true
        try callers[0].send(list)
        try pump { self.callers[0].pendingCount == 0 }
    }

    /// Waits for all answers, ends the countdowns that calls wait for, and lets every watcher catch up.
    private func comeToRest(_ daemon: DaemonProcess) throws {
        try pump { self.callers.allSatisfy { $0.pendingCount == 0 } }
        // A key that is finished may be started by the next one that queues for it.
        let waiting = waiters + queuers
        while waiting.contains(where: { $0.pendingCount > 0 }) {
            for key in waiting.compactMap(\.awaitedKey) { try callers[0].send(call("Finish", [key])) }
            try pump { self.callers[0].pendingCount == 0 }
        }
        for watcher in watchers where watcher.connection == nil { try watcher.connect(to: daemon) }
        try pump { self.watchers.allSatisfy { $0.isSynced || $0.connection == nil } }
        try askForAll()
    }

    private func end(_ daemon: DaemonProcess) throws {
        let isKill = Int.random(in: 0..<4, using: &random) > 0
        try note(isKill ? daemon.kill() : daemon.terminate(), of: daemon, isKill: isKill)
        restarts += 1
        // What the daemon sent before it ended counts.
        while !receivers.isEmpty { try receiveInput() }
        if let stretch = auditor.stretches.last { answers.append((callers.flatMap(\.lists), stretch)) }
        for caller in callers { caller.lists = [] }
    }

    private func note(_ ending: ChildProcess.Ending, of daemon: DaemonProcess, isKill: Bool) {
        let log = daemon.standardError
        if isKill { kills += 1 }
        history.check(isKill || ending == .exited(code: 0), "the daemon ended with \(ending)\n\(log)")
        history.check(!log.contains(": error: ") && !log.contains("atal"), "the daemon said\n\(log)")
    }

    // MARK: Receiving

    private var answered: Int { callers.reduce(0) { $0 + $1.answered } }

    /// Everything that has a connection: how it receives a message, and what it does when the connection is closed.
    private var receivers: [(connection: RawConnection, receive: (String) throws -> Void, close: () -> Void)] {
        let callers = (callers + waiters + queuers).compactMap { caller in
            caller.connection.map { ($0, caller.receive, caller.disconnect) }
        }
        return callers
            + (watchers + [auditor]).compactMap { watcher in
                watcher.connection.map { ($0, watcher.receive, watcher.disconnect) }
            }
    }

    private func pump(until isDone: () -> Bool) throws {
        while !isDone() {
            let open = receivers.count
            try receiveInput()
            let isUnexpected = receivers.count < open && callers.contains { $0.connection == nil }
            if isUnexpected { throw SystemCallFailure("the daemon closed a connection", code: 104) }
        }
    }

    private func receiveInput() throws {
        let receivers = receivers
        for index in try RawConnection.awaitInput(on: receivers.map(\.connection)) {
            let (messages, isClosed) = try receivers[index].connection.arrivedMessages()
            for message in messages { try receivers[index].receive(message) }
            if isClosed { receivers[index].close() }
        }
    }

    // MARK: Calls

    private func call(_ method: String, _ keys: [String]) -> Call {
        var call = Call(method: method)
        call.parameters.key = keys.randomElement(using: &random)
        return call
    }

    private func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private func randomCall() -> Call {
        let methods = [
            "Start", "Start", "Start", "Start", "Get", "Cancel", "Finish", "Pause", "Resume", "Adjust", "List", "List",
            "GetStatus",
        ]
        var call = call(methods.randomElement(using: &random) ?? "Get", Self.keys)
        switch call.method {
        case "Start": completeStart(&call.parameters, call.parameters.key ?? "")
        case "List": call.parameters = listParameters()
        case "GetStatus": call.parameters.key = nil
        case "Adjust":
            if chance(25) {
                call.parameters.deadlineUSec = systemClock() + Int.random(in: 50_000...5_000_000, using: &random)
            } else {
                call.parameters.byUSec = Int.random(in: -100_000...1_000_000, using: &random)
            }
            fallthrough
        case "Cancel", "Finish", "Pause", "Resume":
            if chance(30) { call.parameters.ifRevision = history.known(of: call.parameters.key).record?.revision }
        default: break
        }
        return call
    }

    private func randomStart() -> Call {
        var call = call("Start", Self.keys)
        completeStart(&call.parameters, call.parameters.key ?? "")
        return call
    }

    /// A Start that waits for its turn, half of them for room. Few keys, so that several clients queue for one.
    private func queuedStart() -> Call {
        var call = call("Start", Array(Self.keys.prefix(3) + Self.keys.suffix(1)))
        let duration = Int.random(in: 1...30_000, using: &random)
        call.parameters.durationUSec = duration
        call.parameters.ifRunning = "wait"
        if chance(50) { call.parameters.upToUSec = duration + .random(in: 0...100_000, using: &random) }
        if chance(20) { call.parameters.label = "queued" }
        if chance(20) { call.parameters.queueUpTo = .random(in: 1...2, using: &random) }
        return call
    }

    private func completeStart(_ parameters: inout Parameters, _ key: String) {
        let isShort = chance(70)
        parameters.ifRunning =
            [nil, "attach", "restart", "restart", "extend", "later", "later", "fail"].randomElement(using: &random)
            ?? nil
        parameters.durationUSec =
            isShort ? .random(in: 1...30_000, using: &random) : .random(in: 100_000...20_000_000, using: &random)
        if parameters.ifRunning == "extend", chance(50) {
            parameters.upToUSec = (parameters.durationUSec ?? 0) + .random(in: 0...1_000_000, using: &random)
        }
        if parameters.ifRunning == "later", chance(50) {
            parameters.maxDurationUSec = (parameters.durationUSec ?? 0) + .random(in: 0...50_000, using: &random)
        } else if parameters.ifRunning != "extend", chance(15) {
            parameters.deadlineUSec = systemClock() + Int.random(in: 20_000...2_000_000, using: &random)
            parameters.durationUSec = nil
        }
        if mayForget(key), chance(50) { parameters.forget = true }
        if chance(20) { parameters.label = "label \(Int.random(in: 0..<1_000, using: &random))" }
        if chance(20) { parameters.metadata = ["number": "\(Int.random(in: 0..<1_000, using: &random))"] }
    }

    private func listParameters() -> Parameters {
        var parameters = Parameters()
        switch Int.random(in: 0..<4, using: &random) {
        case 0: parameters.match = ["a/*"]
        case 1: parameters.keys = Self.keys.shuffled(using: &random).suffix(12)
        case 2: parameters.keys = Self.keys
        default: parameters.match = chance(50) ? ["b/*", "a/1*"] : nil
        }
        if chance(50) || parameters.match == nil && parameters.keys == nil {
            parameters.soonest = .random(in: 1...6, using: &random)
        }
        if chance(25), parameters.soonest == nil, keptEnds == nil { parameters.states = ["finished", "cancelled"] }
        if chance(10) { parameters.states = ["paused"] }
        return parameters
    }
}
