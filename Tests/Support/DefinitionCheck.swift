import JSONTree
internal import Varlink
public import VarlinkDefinition

extension Definition {
    /// How the parameters of a reply, as JSON text, contradict the definition; empty if they do not.
    public func check(reply json: [UInt8], of method: String) -> [String] {
        guard let method = self.method(method) else { return ["\(method): no such method"] }
        return check(json, method.reply)
    }

    /// How the parameters of a call, as JSON text, contradict the definition; empty if they do not.
    public func check(parameters json: [UInt8], of method: String) -> [String] {
        guard let method = self.method(method) else { return ["\(method): no such method"] }
        return check(json, method.parameters)
    }

    /// How the parameters of an error, as JSON text, contradict the definition; empty if they do not. The name is the
    /// error's, with or without its interface.
    public func check(error json: [UInt8], named error: String) -> [String] {
        guard let type = self.error(shortName(of: error)) else { return ["\(error): no such error"] }
        return check(json, type)
    }

    private func shortName(of error: String) -> String {
        let prefix = "\(name)."
        return error.hasPrefix(prefix) ? String(error.dropFirst(prefix.count)) : error
    }

    private func check(_ json: [UInt8], _ type: Shape) -> [String] {
        do {
            return check(try JSONValue(parsing: json), type, at: "parameters")
        } catch {
            return ["no JSON object: \(error)"]
        }
    }

    /// How a value contradicts a type. An absent field and a null field mean the same only in calls: clients that read
    /// the definition fail at null, so it is reported.
    private func check(_ value: JSONValue, _ type: Shape, at path: String) -> [String] {
        switch (resolved(type), value) {
        case (.bool, .boolean), (.int, .integer), (.float, .integer), (.float, .double), (.string, .string),
            (.object, .object), (.any, _):
            return []
        case (.array(let element), .array(let elements)):
            return elements.enumerated().flatMap { check($1, element, at: "\(path)[\($0)]") }
        case (.map(let element), .object(let members)):
            return members.flatMap { check($1, element, at: "\(path).\($0)") }
        case (.enumeration(let cases), .string(let text)):
            return cases.contains(text) ? [] : ["\(path): \(text) is none of \(cases.joined(separator: ", "))"]
        case (.structure(let fields), .object(let members)):
            return check(members, fields, at: path)
        case (let type, _):
            return ["\(path): \(value) is no \(type)"]
        }
    }

    private func check(_ members: [String: JSONValue], _ fields: [Field], at path: String) -> [String] {
        let unknown = members.keys.filter { name in !fields.contains { $0.name == name } }
        return unknown.sorted().map { "\(path).\($0): not in the definition" }
            + fields.flatMap { field in
                guard let value = members[field.name] else {
                    return field.isOptional ? [] : ["\(path).\(field.name): missing"]
                }
                return check(value, field.type, at: "\(path).\(field.name)")
            }
    }
}
