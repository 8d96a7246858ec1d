/// What is to be shown, as the Desktop Notifications Specification has it.
struct Notification: Hashable {
    /// How much it matters.
    enum Urgency: UInt8 {
        case low = 0
        case normal = 1
    }

    /// What of ours it is about; by that, rules of the user's can tell them apart.
    enum Category: String {
        case ended = "x-countdownd.ended"
        case progress = "x-countdownd.progress"
        /// Something could not be done or told.
        case trouble = "x-countdownd.trouble"
    }

    /// The name of the file that describes this program to desktops, without its `.desktop`.
    static let desktopEntry = "countdown-notify"

    let category: Category
    /// A line of plain text.
    var summary: String
    /// Plain text.
    var body: String
    var urgency = Urgency.normal
    var actions: [Action] = []
    /// Percent.
    var progress: Int32?

    /// The call that shows it.
    ///
    /// - Parameters:
    ///   - number: that of the one in whose place it is shown, 0 for a place of its own.
    ///   - capabilities: what is not among them is left out, or said otherwise.
    /// - Returns: the call, which is answered with the notification's number.
    func call(replacing number: UInt32 = 0, under capabilities: Capabilities) -> MethodCall {
        let hasBody = capabilities.contains(.body)
        return MethodCall(
            .notifications,
            "Notify",
            .string("Countdowns"),
            .uint32(number),
            .string("appointment-soon"),
            .string(hasBody || body.isEmpty ? summary : "\(summary): \(body)"),
            .string(hasBody ? (capabilities.contains(.bodyMarkup) ? Self.escape(body) : body) : ""),
            .strings(capabilities.contains(.actions) ? actions.flatMap { [$0.rawValue, $0.title] } : []),
            .dictionary(hints),
            // A progress stays until it is taken away; of others whoever shows them knows best.
            .int32(category == .progress ? 0 : -1)
        )
    }

    private var hints: [BusValue.Entry] {
        var hints = [
            BusValue.Entry(name: "urgency", value: .byte(urgency.rawValue)),
            BusValue.Entry(name: "category", value: .string(category.rawValue)),
            BusValue.Entry(name: "desktop-entry", value: .string(Self.desktopEntry)),
        ]
        if let progress { hints.append(BusValue.Entry(name: "value", value: .int32(progress))) }
        return hints
    }

    /// The call that takes one away.
    static func close(_ number: UInt32) -> MethodCall {
        MethodCall(.notifications, "CloseNotification", .uint32(number))
    }

    /// The text as such, where markup is read.
    private static func escape(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}

/// What can be done about a countdown that has ended, by the name that the bus tells.
enum Action: String, CaseIterable {
    /// Start it with the length that it had.
    case again
    /// A minute more.
    case addMinute = "add-minute"
    /// Nothing.
    case dismiss

    var title: String {
        switch self {
        case .again: "Again"
        case .addMinute: "+1 min"
        case .dismiss: "Dismiss"
        }
    }
}
