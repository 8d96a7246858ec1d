import JSONTree

/// The calls of a certification, with their parameters and replies except for the client_id.
enum Course {
    /// One call and its replies.
    struct Step {
        let method: String
        var parameters: [String: JSONValue] = [:]
        var more = false
        var oneway = false
        /// One reply, or several if the call has `more`, or none if it has `oneway`.
        let replies: [[String: JSONValue]]
    }

    static let steps = [
        Step(method: "Start", replies: [[:]]),
        Step(method: "Test01", replies: [["bool": .boolean(true)]]),
        Step(method: "Test02", parameters: ["bool": .boolean(true)], replies: [["int": .integer(1)]]),
        Step(method: "Test03", parameters: ["int": .integer(1)], replies: [["float": .double(1)]]),
        Step(method: "Test04", parameters: ["float": .double(1)], replies: [["string": .string("ping")]]),
        Step(method: "Test05", parameters: ["string": .string("ping")], replies: [scalars]),
        Step(method: "Test06", parameters: scalars, replies: [["struct": .object(scalars)]]),
        Step(method: "Test07", parameters: ["struct": .object(scalars)], replies: [["map": map]]),
        Step(method: "Test08", parameters: ["map": map], replies: [["set": set]]),
        Step(method: "Test09", parameters: ["set": set], replies: [["mytype": .object(myType)]]),
        Step(
            method: "Test10",
            parameters: ["mytype": .object(myType)],
            more: true,
            replies: lines.map { ["string": $0] }
        ),
        Step(method: "Test11", parameters: ["last_more_replies": .array(lines)], oneway: true, replies: []),
        Step(method: "End", replies: [["all_ok": .boolean(true)]]),
    ]

    private static let scalars: [String: JSONValue] = [
        "bool": .boolean(false), "int": .integer(2), "float": .double(.pi), "string": .string("a lot of string"),
    ]
    private static let map = JSONValue.object(["foo": .string("Foo"), "bar": .string("Bar")])
    private static let set = JSONValue.object(["one": .object([:]), "two": .object([:]), "three": .object([:])])
    private static let lines = (1...10).map { JSONValue.string("Reply number \($0)") }

    private static let myType: [String: JSONValue] = [
        "object": .object(["method": .string("org.varlink.certification.Test09"), "parameters": .object(["map": map])]),
        "enum": .string("two"),
        "struct": .object(["first": .integer(1), "second": .string("2")]),
        "array": .array([.string("one"), .string("two"), .string("three")]),
        "dictionary": map,
        "stringset": set,
        "interface": .object(["foo": .array(maps), "anon": .object(["foo": .boolean(true), "bar": .boolean(false)])]),
    ]

    private static let maps: [JSONValue] = [
        .null,
        .object(["foo": .string("foo"), "bar": .string("bar")]),
        .null,
        .object(["one": .string("foo"), "two": .string("bar")]),
    ]
}

extension JSONValue {
    /// Whether a received value is the same as this one: a whole float may lack its fraction, and a null member is the same
    /// as an absent one.
    func accepts(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.double(let value), .integer(let number)): value == Double(number)
        case (.array(let elements), .array(let others)):
            elements.count == others.count && zip(elements, others).allSatisfy { $0.accepts($1) }
        case (.object(let members), .object(let others)): Self.accepts(members, others)
        default: self == other
        }
    }

    /// Whether received members are the same as these.
    static func accepts(_ members: [String: JSONValue], _ others: [String: JSONValue]) -> Bool {
        let present = others.filter { $0.value != .null }
        return members.keys == present.keys && members.allSatisfy { present[$0].map($1.accepts) ?? false }
    }
}
