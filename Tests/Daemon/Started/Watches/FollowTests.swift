import Foundation
import IPC
import Synchronization
import TestSupport
import Testing

/// `COUNTDOWND_FOLLOWS=2000 COUNTDOWND_KILLS=50 swift test --filter FollowTests` follows 2,000 countdowns, and kills the daemon 50
/// times.
@Suite("Countdowns that are followed while the daemon is killed")
struct FollowTests {
    @Test("each ends once, as it did end, and is started once")
    func survivesKills() throws {
        let follows = Setting.number("COUNTDOWND_FOLLOWS", 100)
        let kills = Setting.number("COUNTDOWND_KILLS", 5)
        try Setting.allowDescriptors(follows * 2 + 200)
        let directory = try TemporaryDirectory()
        let progress = Progress()
        let plans = (0..<follows).map { Plan(number: $0) }
        let path = directory.path(of: "socket")
        let deadline = Deadline(after: .seconds(60 + 5 * kills))
        var daemon = try DaemonProcess(in: directory)
        let async = Crew(thread: {
            var runs: [Run] = []
            try awaiting(until: deadline) {
                runs = await asynchronously(plans.filter { $0.way == .async }, path, progress)
            }
            return runs
        })
        let polled = Crew(thread: {
            try polling(plans.filter { $0.way == .polled }, path, progress, until: deadline)
        })
        let blocked = plans.filter { $0.way == .blocking }.map { plan in
            Crew(thread: { [try blocking(plan, path, progress)] })
        }
        for number in 1...kills {
            let before = progress.steps.load(ordering: .relaxed)
            let wanted = 1 + number * 7919 % (follows / 2)
            try waitUntil("\(wanted) steps", by: deadline) {
                progress.steps.load(ordering: .relaxed) >= before + wanted
                    || progress.ended.load(ordering: .relaxed) == follows
            }
            try daemon.kill()
            daemon = try DaemonProcess(in: directory)
        }
        progress.isCalm.store(true, ordering: .relaxed)
        var runs: [Run] = []
        for crew in [async, polled] + blocked { runs += try crew.runs(progress, by: deadline) }
        #expect(runs.count == follows)
        let faults = runs.compactMap(\.fault)
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10).joined(separator: "; "))")
        var client = try Client(at: path)
        #expect(try client.list().isEmpty)
        let ends = Dictionary(grouping: try client.list(states: [.finished, .cancelled]), by: \.key)
        let twice = plans.filter { ends[$0.key]?.count ?? 0 != ($0.forgets ? 0 : 1) }.map(\.key)
        #expect(twice.isEmpty, "started twice, or lost: \(twice.prefix(10))")
        let counts = Dictionary(grouping: runs.compactMap(\.steps.last), by: \.type).mapValues(\.count)
        print("\(follows) follows, \(kills) kills: \(counts.map { "\($1) \($0)" }.sorted().joined(separator: ", "))")
    }
}

private enum Setting {
    static func number(_ name: String, _ usual: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? usual
    }

    static func allowDescriptors(_ count: Int) throws {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw SystemCallFailure("getrlimit")
        }
        limit.rlim_cur = max(limit.rlim_cur, rlim_t(count))
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw SystemCallFailure("setrlimit")
        }
    }
}

private final class Progress: Sendable {
    let steps = Atomic(0)
    let ended = Atomic(0)
    /// The steps of the countdowns whose last step has not come.
    let open = Guarded<[String: [FollowStep.Kind]]>([:])
    /// Whether no kill follows.
    let isCalm = Atomic(false)
}

/// How a countdown is followed, and how it shall end.
private struct Plan {
    enum Way { case async, polled, blocking }
    enum Change { case none, cancel, finish }

    let number: Int

    var key: String { "follow/\(number)" }
    var way: Way { number % 40 == 7 ? .blocking : number % 2 == 0 ? .async : .polled }
    var change: Change { [.none, .cancel, .finish, .none][number / 2 % 4] }
    var forgets: Bool { number / 2 % 4 == 3 }
    var duration: Duration { change == .none ? .milliseconds(100 + number * 7919 % 9000) : .seconds(3600) }
    var ifRunning: IfRunning? { [nil, .fail, .restart, .wait][number / 8 % 4] }
    /// The losses of the daemon before the change.
    var patience: Int { number * 31 % 11 }
}

/// The steps of a countdown.
private struct Run: Sendable {
    let plan: Plan
    var steps: [FollowStep] = []
    var error: ClientError?

    /// Whether the countdown is to be changed after the steps so far, unless it was.
    func isDue(_ progress: Progress) -> Bool {
        guard plan.change != .none, steps.contains(where: { $0.type != .away }) else { return false }
        return progress.isCalm.load(ordering: .relaxed) || steps.count { $0.type == .away } >= plan.patience
    }

    /// Whether there was no daemon in the beginning, which is an error: the countdown is followed anew.
    var hasFoundNoDaemon: Bool {
        if case .unreachable = error { steps.isEmpty } else { false }
    }

    mutating func take(_ step: FollowStep, _ progress: Progress) {
        steps.append(step)
        progress.steps.add(1, ordering: .relaxed)
        progress.open.withLock { $0[plan.key] = step.isLast ? nil : steps.map(\.type) }
        if step.isLast { progress.ended.add(1, ordering: .relaxed) }
    }

    /// The fault of the steps, as a text; nil if they are right.
    var fault: String? {
        let types = steps.map(\.type)
        let ends: [FollowStep.Kind] =
            plan.change == .cancel ? [.cancelled] : plan.forgets ? [.finished, .gone] : [.finished]
        let isRight = types.last.map(ends.contains) == true && steps.count(where: \.isLast) == 1
        let first = types.first { $0 != .away }
        let begins = first == .started || first == .attached || first == types.last
        let isCalledOnce = zip(types, types.dropFirst()).allSatisfy { $0 != .away || $1 != .away }
        let wrong = !isRight || !begins || !isCalledOnce || error != nil
        return wrong ? "\(plan.key): \(types) \(error.map { "\($0)" } ?? "")" : nil
    }
}

/// A thread that follows countdowns.
private final class Crew: Sendable {
    private let result = Guarded<Result<[Run], any Error>?>(nil)
    private let hasEnded = DispatchSemaphore(value: 0)

    init(thread body: @escaping @Sendable () throws -> [Run]) {
        Thread.detachNewThread { [self] in end(Result { try body() }) }
    }

    private func end(_ runs: Result<[Run], any Error>) {
        result.withLock { $0 = runs }
        hasEnded.signal()
    }

    func runs(_ progress: Progress, by deadline: Deadline) throws -> [Run] {
        while hasEnded.wait(timeout: .now() + .seconds(1)) == .timedOut {
            guard !deadline.hasPassed else { throw StillOpen(steps: progress.open.withLock(\.self)) }
        }
        return try result.withLock { try $0?.get() } ?? []
    }
}

private func asynchronously(_ plans: [Plan], _ path: String, _ progress: Progress) async -> [Run] {
    let client = AsyncClient(at: path)
    return await withTaskGroup(of: Run.self) { group in
        for plan in plans {
            group.addTask {
                var run = Run(plan: plan)
                repeat {
                    run.error = nil
                    let steps = client.follow(
                        plan.key,
                        for: plan.duration,
                        ifRunning: plan.ifRunning,
                        forget: plan.forgets
                    )
                    do throws(ClientError) {
                        for try await step in steps {
                            run.take(step, progress)
                            guard run.isDue(progress), !step.isLast else { continue }
                            // If it fails, it is tried again after the next step.
                            if plan.change == .cancel {
                                _ = try? await client.cancel(plan.key)
                            } else {
                                _ = try? await client.finish(plan.key)
                            }
                        }
                    } catch { run.error = error }
                } while run.hasFoundNoDaemon
                return run
            }
        }
        return await group.reduce(into: []) { $0.append($1) }
    }
}

extension Following {
    fileprivate convenience init(_ plan: Plan, at path: String) throws {
        try self.init(plan.key, for: plan.duration, ifRunning: plan.ifRunning, forget: plan.forgets, at: path)
    }
}

extension Run {
    /// Changes the countdown, if it is time to; if it fails, it is tried again after the next step.
    fileprivate func change(at path: String, _ progress: Progress) {
        guard isDue(progress), var client = try? Client(at: path) else { return }
        _ = plan.change == .cancel ? try? client.cancel(plan.key) : try? client.finish(plan.key)
    }
}

extension Run {
    /// Takes the steps that `next` returns, to the last one or to nil.
    fileprivate mutating func follow(
        at path: String,
        _ progress: Progress,
        _ next: () throws(ClientError) -> FollowStep?
    ) {
        error = nil
        do throws(ClientError) {
            while let step = try next() {
                take(step, progress)
                if !step.isLast { change(at: path, progress) }
            }
        } catch { self.error = error }
    }
}

private func blocking(_ plan: Plan, _ path: String, _ progress: Progress) throws -> Run {
    var run = Run(plan: plan)
    repeat {
        let following = try Following(plan, at: path)
        run.follow(at: path, progress) { () throws(ClientError) in try following.next() }
    } while run.hasFoundNoDaemon
    return run
}

/// Follows all countdowns in one loop over poll(2).
private func polling(_ plans: [Plan], _ path: String, _ progress: Progress, until deadline: Deadline) throws -> [Run] {
    var runs = plans.map { Run(plan: $0) }
    var followings = try plans.map { try Following($0, at: path) }
    while !followings.allSatisfy(\.hasEnded) {
        guard !deadline.hasPassed else { throw StillOpen(steps: progress.open.withLock(\.self)) }
        for (index, following) in followings.enumerated() where !following.hasEnded {
            runs[index].follow(at: path, progress) { () throws(ClientError) in try following.advance() }
            if runs[index].hasFoundNoDaemon { followings[index] = try Following(plans[index], at: path) }
        }
        let open = followings.filter { !$0.hasEnded }
        var polled = open.map { pollfd(fd: $0.descriptor ?? -1, events: $0.pollEvents, revents: 0) }
        let pause = open.compactMap(\.timeout).min().map { Int32(($0 / .milliseconds(1)).rounded(.up)) }
        if !polled.isEmpty { unsafe poll(&polled, nfds_t(polled.count), pause ?? -1) }
    }
    return runs
}

private struct StillOpen: Error {
    let steps: [String: [FollowStep.Kind]]
}
