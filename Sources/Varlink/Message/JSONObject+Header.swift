/// The fields of a message, by their nodes; 0, the message itself, stands for a field that is absent.
extension JSONObject {
    /// A flag; `null` is the same as none, as the flags are `?bool`.
    func headerFlag(_ field: Int, _ name: String) throws(ProtocolViolation) -> Bool {
        guard field > 0 else { return false }
        switch nodes[field].kind {
        case .true: return true
        case .false, .null: return false
        default: throw .invalidField(name)
        }
    }

    /// Whether the second field is an object and the last one.
    @inline(__always)
    var endsWithParameters: Bool { nodes[2].kind == .object && nodes[2].next == nodes[0].next }

    /// Whether no other one of the parameters, which are the second field, has the name of the first one.
    var namesFirstParameterOnce: Bool {
        let first = nodes[3]
        guard !first.name.isEscaped else { return false }
        var member = Int(first.next)
        while member < nodes[2].next {
            let other = nodes[member]
            guard !other.name.isEscaped, bytes[other.nameRange] != bytes[first.nameRange] else { return false }
            member = Int(other.next)
        }
        return true
    }

    /// Whether a field is absent or an object; `null` is the same as none, as the parameters are `?object`.
    func isHeaderObject(_ field: Int) -> Bool { nodes[field].kind == .object || nodes[field].kind == .null }

    /// The object of a field that ``isHeaderObject(_:)``, empty where it is absent.
    consuming func headerObject(_ field: Int) -> JSONObject {
        guard field > 0 && nodes[field].kind == .object else { return .empty }
        index = field
        return self
    }

    /// Refuses a field that is not known and no vendor's: theirs are named in reverse-domain notation.
    func requireVendorField(_ member: Int) throws(ProtocolViolation) {
        let name = name(of: member)
        guard name.utf8.contains(ASCII.dot) else { throw .unknownField(name) }
    }
}
