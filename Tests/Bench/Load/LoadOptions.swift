/// The command line: a measure, and `--name value` after it.
struct LoadOptions {
    let measure: String
    private var values: [String: String] = [:]

    private static let names: Set = [
        "bytes", "call", "connections", "count", "depth", "every", "file", "first", "keys", "lead", "patience", "pid",
        "seconds", "server", "socket", "spread", "watchers", "while",
    ]

    init(_ arguments: ArraySlice<String>) {
        measure = arguments.first ?? "none"
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--"), let value = rest.popFirst() else { fail("\(argument) is not --NAME VALUE") }
            let name = String(argument.dropFirst(2))
            guard Self.names.contains(name) else {
                fail("there is no --\(name); there are \(Self.names.sorted().joined(separator: ", "))")
            }
            values[name] = value
        }
    }

    /// The text of a required option.
    func text(_ name: String) -> String {
        guard let value = values[name] else { fail("\(measure) needs --\(name)") }
        return value
    }

    /// A whole number, with its default.
    func number(_ name: String, _ standard: Int, atLeast least: Int = 0) -> Int {
        guard let value = values[name] else { return standard }
        guard let number = Int(value), number >= least else {
            fail("--\(name) is a whole number of at least \(least), not \(value)")
        }
        return number
    }

    var dialect: any Dialect {
        switch text("server") {
        case "countdownd": CountdowndDialect()
        case "redis": RedisDialect()
        case let other: fail("--server is countdownd or redis, not \(other)")
        }
    }

    /// The calls that `--call` names, which are made in turn.
    var calls: [LoadCall] {
        text("call").split(separator: "+").map { name in
            guard let call = LoadCall(rawValue: String(name)), call != .change else {
                fail("--call is start, get, start-all or start+get, not \(text("call"))")
            }
            return call
        }
    }
}
