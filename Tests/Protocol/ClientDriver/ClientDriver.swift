import Glibc
import IPC
import JSONTree
import Varlink

/// Drives the module `IPC` for the suite in clients/conformance: a command per line of standard input, and a line of
/// standard output for each result.
@main
struct ClientDriver {
    private var events: AsyncClient.Events.Iterator?
    /// The text of the last error.
    private var message = ""

    static func main() async throws {
        var driver = ClientDriver()
        while let line = readLine() {
            let command = try JSONValue(parsing: line)
            do {
                for result in try await driver.perform(command) { print(result) }
            } catch let error as ClientError {
                driver.message = "\(error)"
                print(result(of: error))
            }
        }
    }

    private static func print(_ result: JSONValue) {
        Swift.print(String(decoding: result.text, as: UTF8.self))
        fflush(nil)
    }

    private mutating func perform(_ command: JSONValue) async throws -> [JSONValue] {
        guard case .object(var members) = command, let name = members.removeValue(forKey: "do")?.string else {
            throw UnknownCommand()
        }
        members["timeoutUSec"] = nil
        let parameters = JSONValue.object(members).text
        let client = try AsyncClient()
        switch name {
        case "path": return [.object(["path": .string(client.path)])]
        case "message": return [.object(["message": .string(message)])]
        case "start": return [try tree(await client.call(Start(json: parameters)))]
        case "startAll": return [try tree(await client.call(StartAll(json: parameters)))]
        case "get": return [try countdown(await client.call(Get(json: parameters)))]
        case "cancel": return [try countdown(await client.call(Cancel(json: parameters)))]
        case "wait": return [try tree(await client.wait(for: members["key"]?.string ?? ""))]
        case "follow":
            // `tickUSec` and `missingOk` are no parameters of a start.
            let options = (members.removeValue(forKey: "tickUSec"), members.removeValue(forKey: "missingOk"))
            let start = try Start(json: JSONValue.object(members).text)
            let tick: Int64? = if case .integer(let tick) = options.0 { tick } else { nil }
            let missingOK = options.1 == .boolean(true)
            var steps: [JSONValue] = []
            for try await step in AsyncClient.Steps(path: client.path, start: start, tick: tick, missingOK: missingOK) {
                steps.append(try Self.result(of: step))
            }
            return [.array(steps)]
        case "list":
            let list = try List(json: parameters)
            let countdowns = try await client.list(
                match: list.match,
                states: list.states,
                keys: list.keys,
                soonest: list.soonest
            )
            return [.array(try countdowns.map(tree))]
        case "watch":
            events = client.events(try Watch(json: parameters)).makeAsyncIterator()
            return [.object([:])]
        case "next":
            guard case .integer(let count)? = members["count"] else { throw UnknownCommand() }
            var results: [JSONValue] = []
            for _ in 0..<count {
                guard let element = try await events?.next() else { throw UnknownCommand() }
                results.append(try Self.result(of: element))
            }
            return results
        default: throw UnknownCommand()
        }
    }

    private struct UnknownCommand: Error {}

    private static func result(of element: AsyncClient.Events.Element) throws -> JSONValue {
        switch element {
        case .event(let event): try tree(event)
        case .disconnected(let error): marker("disconnected", error)
        case .historyTrimmed(let oldest):
            marker("historyTrimmed", .countdown(.historyTrimmed(oldestRevision: oldest)))
        case .forgotten(let key): .object(["type": .string("forgotten"), "key": .string(key)])
        }
    }

    private static func result(of step: FollowStep) throws -> JSONValue {
        var members: [String: JSONValue] = ["type": .string(step.type.rawValue)]
        members["remainingUSec"] = step.remaining.map { .integer($0.microseconds) }
        members["lateUSec"] = step.late.map { .integer($0.microseconds) }
        members["countdown"] = try step.countdown.map(tree)
        members["error"] = step.reason.flatMap { result(of: $0)["error"] }
        return .object(members)
    }

    private static func marker(_ type: String, _ error: ClientError) -> JSONValue {
        .object(["type": .string(type), "error": result(of: error)["error"] ?? .null])
    }

    /// The error by the names that all clients share.
    private static func result(of error: ClientError) -> JSONValue {
        func named(_ name: String) -> JSONValue { .object(["error": .string(name)]) }
        switch error {
        case .address: return named("AddressError")
        case .unreachable: return named("NoDaemon")
        case .cancelled: return named("Cancelled")
        case .disconnected, .failed: return named("Disconnected")
        case .callTooLong: return named("CallTooLong")
        case .protocolViolation, .invalidReply: return named("ProtocolError")
        case .countdown(let error): return reply(error)
        case .service(let error): return reply(error)
        case .unknownError(let name): return .object(["error": last(name), "class": .string("CallError")])
        }
    }

    private static func reply(_ error: any ReplyError) -> JSONValue {
        var writer = JSONWriter()
        writer.object { error.encodeParameters(into: &$0) }
        var members = (try? JSONValue(parsing: writer.bytes)).flatMap(\.members) ?? [:]
        members["error"] = last(error.errorName)
        members["class"] = members["error"]
        return .object(members)
    }

    private static func last(_ name: String) -> JSONValue {
        .string(name.split(separator: ".").last.map(String.init) ?? name)
    }
}

private func tree(_ value: some JSONEncodable) throws -> JSONValue {
    var writer = JSONWriter()
    writer.object { value.encode(into: &$0) }
    return try JSONValue(parsing: writer.bytes)
}

private func countdown(_ reply: CountdownReply) throws -> JSONValue { try tree(reply.countdown) }

extension JSONValue {
    /// The members of an object; nil if the value is of another kind.
    fileprivate var members: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }
}
