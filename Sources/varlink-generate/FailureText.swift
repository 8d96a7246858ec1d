import VarlinkDefinition

/// Writes the errors of an interface.
struct FailureText {
    private let model: SwiftModel

    init(_ model: SwiftModel) { self.model = model }

    func write(_ name: String, into text: inout SwiftText) {
        text.documentation([.paragraph("An error of the interface `\(model.definition.name)`.")])
        text.block("public enum \(name): InterfaceError") { text in
            for failure in model.failures {
                text.documentation(failure.documentation)
                let values = failure.members.map { member in
                    "\(label(member))\(valueType(member))"
                }
                let list = values.isEmpty ? "" : "(\(values.joined(separator: ", ")))"
                text.line("case \(SwiftName.escaped(failure.name))\(list)")
            }
            text.space()
            writeNames(&text)
            text.space()
            writeEncoder(&text)
            text.space()
            writeDecoder(&text)
        }
    }

    /// Whether the type says what a value is.
    private func isUnlabelled(_ member: SwiftModel.Member) -> Bool {
        SwiftName.type(member.name) == member.type.split(separator: ".").last.map(String.init)
    }

    private func label(_ member: SwiftModel.Member) -> String {
        isUnlabelled(member) ? "" : "\(SwiftName.label(valueName(member))): "
    }

    private func valueName(_ member: SwiftModel.Member) -> String { member.view?.name ?? member.name }

    private func valueType(_ member: SwiftModel.Member) -> String {
        "\(member.view?.type ?? member.type)\(member.isOptional ? "?" : "")"
    }

    private func writeNames(_ text: inout SwiftText) {
        text.documentation([.paragraph("The names of the errors on the wire, in the order of the definition.")])
        text.block("public enum WireName: String, Sendable, CaseIterable") { text in
            for failure in model.failures {
                text.line("case \(SwiftName.escaped(failure.name)) = \"\(model.definition.name).\(failure.wire)\"")
            }
        }
        text.space()
        text.documentation([.paragraph("The name of the error.")])
        text.block("public var name: WireName") { text in
            text.switching("self") { text in
                for failure in model.failures {
                    let name = SwiftName.escaped(failure.name)
                    text.line("case .\(name): .\(name)")
                }
            }
        }
    }

    private func writeEncoder(_ text: inout SwiftText) {
        text.documentation([.paragraph("Writes the parameters of the error; those that are nil are left out.")])
        text.block("public func encodeParameters(into writer: inout JSONWriter)") { text in
            text.switching("self") { text in
                for failure in model.failures {
                    let name = SwiftName.escaped(failure.name)
                    guard !failure.members.isEmpty else {
                        text.line("case .\(name): break")
                        continue
                    }
                    let values = failure.members.map { "let \(variable($0))" }.joined(separator: ", ")
                    text.line("case .\(name)(\(values)):")
                    text.indented { text in
                        for member in failure.members { text.line(writing(member)) }
                    }
                }
            }
        }
    }

    /// The variable with a value, which is not the reader or the writer.
    private func variable(_ member: SwiftModel.Member) -> String {
        let name = valueName(member)
        return ["reader", "writer"].contains(name) ? "\(name)Member" : SwiftName.escaped(name)
    }

    private func writing(_ member: SwiftModel.Member) -> String {
        let function = member.isOptional ? "memberIfPresent" : "member"
        let value = member.view == nil ? "" : "microseconds: "
        return "writer.\(function)(\"\(member.wire)\", \(value)\(variable(member)))"
    }

    private func writeDecoder(_ text: inout SwiftText) {
        text.documentation([
            .paragraph(
                "Reads the parameters of the error with this name. Skips unknown ones, which a newer peer may have added."
            ),
            .item("Throws: the name of the member that is missing or invalid."),
        ])
        text.block("public init(_ name: WireName, from reader: inout JSONReader) throws(InvalidParameter)") { text in
            text.switching("name") { text in
                for failure in model.failures {
                    let name = SwiftName.escaped(failure.name)
                    let values = failure.members.map { member in
                        "\(label(member))\(reading(member))"
                    }
                    text.value("case .\(name):", "self = .\(name)", values)
                }
            }
            text.line("reader.skipMembers()")
        }
    }

    private func reading(_ member: SwiftModel.Member) -> String {
        let value = "try reader.member\(member.isOptional ? "IfPresent" : "")(\"\(member.wire)\")"
        guard member.view != nil else { return value }
        return "try reader.duration\(member.isOptional ? "IfPresent" : "")(\"\(member.wire)\")"
    }
}
