import Glibc
import IPC
import JSONTree
import TestSupport
import Testing
import Varlink

/// The table in clients/conformance/follow.json, which the clients for Python and node follow too.
@Suite("Following a countdown without I/O")
struct FollowStateTests {
    private static let table = Result {
        try JSONValue(parsing: BuiltProduct.text(of: "clients/conformance/follow.json"))
    }

    private static var scenarios: [String] {
        (try? table.get()["scenarios"]?.elements?.compactMap { $0["name"]?.string }) ?? []
    }

    private let table: JSONValue

    init() throws { table = try Self.table.get() }

    @Test("the table has scenarios")
    func isFilled() { #expect(Self.scenarios.count > 60) }

    @Test("each row of the table has its acts and steps", arguments: scenarios)
    func scenario(titled title: String) throws {
        let scenario = try #require(table["scenarios"]?.elements?.first { $0["name"]?.string == title })
        let follow = try #require(scenario["follow"])
        let key = try #require(follow["key"]?.string)
        var state = FollowState(
            key,
            start: try start(follow["start"], key),
            missingOK: follow["missingOk"] == .boolean(true),
            token: try #require(table["token"]?.string)
        )
        for row in try #require(scenario["rows"]?.elements) {
            let comment = Comment(rawValue: String(decoding: row.text, as: UTF8.self))
            #expect(!state.isOver, comment)
            let input = try #require(row["in"])
            var raised: JSONValue?
            var acts: [JSONValue] = []
            do {
                if try put(input, into: &state) { acts.append(act("rewatch")) }
            } catch {
                raised = .string(name(of: error))
            }
            if state.mustStart, !state.isOver {
                let pause = state.delay
                let call = state.request(at: instant(input))
                acts.append(act("start", ["afterUSec": .integer(pause), "parameters": try tree(#require(call))]))
            }
            if state.isOver { acts.append(act("close")) }
            #expect(raised == row["raises"], comment)
            #expect(JSONValue.array(acts) == row["acts"], comment)
            let expected = try #require(row["steps"]?.elements)
            #expect(state.steps.count == expected.count, comment)
            for (step, wanted) in zip(state.steps, expected) { try check(step, wanted, comment) }
            state.steps = []
        }
    }

    private func check(_ step: FollowStep, _ wanted: JSONValue, _ comment: Comment) throws {
        #expect(step.type.rawValue == wanted["type"]?.string, comment)
        #expect(step.late == wanted["lateUSec"].flatMap(integer).map(Duration.microseconds), comment)
        guard let name = wanted["countdown"] else {
            #expect(step.countdown == nil, comment)
            return
        }
        var countdown = try countdown(name)
        if let remaining = wanted["remainingUSec"].flatMap(integer) {
            countdown.remainingUSec = remaining
            #expect(step.countdown == countdown, comment)
        }
        #expect(step.countdown?.revision == countdown.revision, comment)
    }

    /// Hands the input over; whether the watch has to begin again.
    private func put(_ input: JSONValue, into state: inout FollowState) throws -> Bool {
        if let reply = input["reply"] {
            let outcome = try #require(reply["outcome"]?.string.flatMap(Countdown.Outcome.init))
            state.answer(Start.Reply(outcome: outcome, countdown: try countdown(reply["countdown"])))
        } else if let error = input["error"] {
            try state.refuse(try self.error(error), at: instant(input))
            return state.steps.isEmpty
        } else if let event = input["event"] {
            let countdowns = try input["listed"].map { [try countdown($0)] }
            try countdowns.map { try state.take(.current($0), at: instant(input)) }
            try watchEvent(event).map { try state.take($0, at: instant(input)) }
        }
        return false
    }

    /// The event; nil for a type that this client does not know, and which it skips.
    private func watchEvent(_ event: JSONValue) throws -> WatchEvent? {
        let type = try #require(event["type"]?.string)
        switch type {
        case "disconnected":
            let error = ["name": event["error"] ?? .null, "limit": .string("connections"), "maximum": .integer(9)]
            return .lost(try self.error(.object(error)))
        case "historyTrimmed": return .historyTrimmed(oldestRevision: 1)
        case "forgotten": return .forgotten([try #require(event["key"]?.string)])
        default:
            guard Event.Kind(rawValue: type) != nil, case .object(var members) = event else { return nil }
            members["countdown"] = try members["countdown"].map { try tree(countdown($0)) }
            let reply = JSONValue.object(["events": .array([.object(members)])])
            return .events(try Watch.Reply(json: reply.text).events)
        }
    }

    private func start(_ parameters: JSONValue?, _ key: String) throws -> Start? {
        guard case .object(let members) = parameters else { return nil }
        return try Start(json: JSONValue.object(members.merging(["key": .string(key)]) { $1 }).text)
    }

    private func countdown(_ name: JSONValue?) throws -> Countdown {
        let members = try #require(name?.string.flatMap { table["countdowns"]?[$0] })
        return try Countdown(json: members.text)
    }

    private func instant(_ input: JSONValue) -> Int64 { input["atUSec"].flatMap(integer) ?? 1_700_000_000_000_000 }

    private func integer(_ value: JSONValue) -> Int64? {
        if case .integer(let number) = value { number } else { nil }
    }

    private func act(_ name: String, _ members: [String: JSONValue] = [:]) -> JSONValue {
        .object(members.merging(["act": .string(name)]) { $1 })
    }

    private func tree(_ value: some JSONEncodable) throws -> JSONValue {
        var writer = JSONWriter()
        writer.object { value.encode(into: &$0) }
        return try JSONValue(parsing: writer.bytes)
    }

    private func error(_ error: JSONValue) throws -> ClientError {
        switch error["name"]?.string {
        case "NoDaemon": return .unreachable(path: "", errno: ENOENT)
        case "Disconnected": return .disconnected
        case "TimedOut": return .failed(errno: ETIMEDOUT)
        case "StorageFailed": return .countdown(.storageFailed(reason: ""))
        case "Unreachable": return .countdown(.unreachable(reason: ""))
        case "LimitReached":
            return .countdown(.limitReached(limit: try #require(error["limit"]?.string), maximum: 9))
        case "AlreadyRunning":
            return .countdown(.alreadyRunning(try countdown(error["countdown"]), retryAfter: nil))
        case let name: throw Unknown(name: name)
        }
    }

    private struct Unknown: Error {
        let name: String?
    }

    private func name(of error: any Error) -> String {
        switch error as? ClientError {
        case .unreachable: "NoDaemon"
        case .countdown(let error): error.name.rawValue.split(separator: ".").last.map(String.init) ?? ""
        default: "\(error)"
        }
    }
}
