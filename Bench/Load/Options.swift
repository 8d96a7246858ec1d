/// What is asked for: a measure, and `--name value` after it.
struct Options {
    let measure: String
    private var values: [String: String] = [:]

    init(_ arguments: ArraySlice<String>) {
        measure = arguments.first ?? "none"
        var rest = arguments.dropFirst()
        while let name = rest.popFirst() {
            guard name.hasPrefix("--"), let value = rest.popFirst() else { fail("\(name) is not --NAME VALUE") }
            values[String(name.dropFirst(2))] = value
        }
    }

    /// The text of an option that has to be there.
    func text(_ name: String) -> String {
        guard let value = values[name] else { fail("\(measure) needs --\(name)") }
        return value
    }

    func number(_ name: String, _ standard: Int) -> Int {
        guard let value = values[name] else { return standard }
        guard let number = Int(value) else { fail("--\(name) is a number, not \(value)") }
        return number
    }

    var dialect: any Dialect {
        switch text("server") {
        case "countdownd": CountdowndDialect()
        case "redis": RedisDialect()
        case let other: fail("--server is countdownd or redis, not \(other)")
        }
    }
}
