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

/// What whoever shows notifications can do beyond their summary, as its `GetCapabilities` says.
struct Capabilities: OptionSet, Hashable {
    let rawValue: Int

    static let actions = Capabilities(rawValue: 1)
    static let body = Capabilities(rawValue: 2)
    static let bodyMarkup = Capabilities(rawValue: 4)

    init(rawValue: Int) { self.rawValue = rawValue }

    /// Those of these names that matter here.
    init(named names: [String]) {
        let known: [String: Capabilities] = ["actions": .actions, "body": .body, "body-markup": .bodyMarkup]
        self = Capabilities(names.compactMap { known[$0] })
    }
}

/// What is heard of whoever shows notifications.
enum DesktopSignal: Equatable {
    /// Somebody else shows them from now on, or nobody.
    case changed
    /// A notification was taken away, by whomever.
    case closed(UInt32)
    /// Somebody chose an action.
    case chosen(Action, UInt32)

    /// The calls after which the bus tells all of these.
    static let subscriptions = [
        "type='signal',sender='\(bus.name)',interface='\(bus.interface)',member='NameOwnerChanged',arg0='\(service.name)'",
        "type='signal',sender='\(service.name)',interface='\(service.interface)',path='\(service.path)'",
    ].map { MethodCall(.bus, "AddMatch", .string($0)) }

    private static let bus = MethodCall.Destination.bus
    private static let service = MethodCall.Destination.notifications

    /// Nil where the signal is none of these.
    init?(_ message: IncomingMessage) {
        guard case .signal(let sender, let interface, let member, let values) = message else { return nil }
        switch (interface, member, values.first, values.last) {
        case (Self.bus.interface, "NameOwnerChanged", .string(Self.service.name), _) where sender == Self.bus.name:
            self = .changed
        case (Self.service.interface, "NotificationClosed", .uint32(let number), _): self = .closed(number)
        case (Self.service.interface, "ActionInvoked", .uint32(let number), .string(let name)):
            guard let action = Action(rawValue: name) else { return nil }
            self = .chosen(action, number)
        default: return nil
        }
    }
}
