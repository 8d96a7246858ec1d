import Text

/// A notification as the Desktop Notifications Specification has it.
struct Notification: Hashable {
    enum Urgency: UInt8 {
        case low = 0
        case normal = 1
        /// It stays until the user closes it.
        case critical = 2
    }

    /// The kind of a notification. Rules of the user can distinguish notifications by it.
    enum Category: String {
        case ended = "x-countdownd.ended"
        case progress = "x-countdownd.progress"
        /// An end comes soon.
        case warning = "x-countdownd.warning"
        case trouble = "x-countdownd.trouble"
    }

    /// The name of the desktop file of this program, without `.desktop`.
    static let desktopEntry = "countdown-notify"
    /// The name of the icon that is installed below `icons/hicolor`.
    static let icon = "countdownd"

    let category: Category
    /// A line of plain text.
    var summary: String
    /// Plain text.
    var body: String
    var urgency = Urgency.normal
    /// Beside `dismiss`, which each notification has.
    var actions: [NotificationAction] = []
    /// Percent.
    var progress: Int32?
    /// Whether this program plays a sound for it.
    var ring = RingMode.no

    /// The call that shows the notification, in the place of the one with `number` unless it is 0; its answer is the
    /// notification's number. If the service shows no body, the summary has the text of the body.
    func call(
        replacing number: UInt32 = 0,
        under capabilities: Capabilities,
        _ strings: Strings = Strings()
    ) -> MethodCall {
        let hasBody = capabilities.contains(.body)
        let markup = capabilities.contains(.bodyMarkup) ? Markup.escape(body, quotes: false) : body
        return MethodCall(
            .notifications,
            "Notify",
            .string(strings.text(.countdowns)),
            .uint32(number),
            .string(Self.icon),
            .string(hasBody || body.isEmpty ? summary : strings.text(.summaryAndBody, summary, body)),
            .string(hasBody ? markup : ""),
            .strings(
                capabilities.contains(.actions)
                    ? (actions + [.dismiss]).flatMap { [$0.rawValue, $0.title(strings)] } : []
            ),
            .dictionary(hints(under: capabilities)),
            // Progress stays until it is closed, and so does a notification that answers a sound. For the others the service
            // decides.
            .int32(category == .progress || ring == .yes ? 0 : -1)
        )
    }

    private func hints(under capabilities: Capabilities) -> [BusValue.NamedValue] {
        var hints = [
            BusValue.NamedValue(name: "urgency", value: .byte(urgency.rawValue)),
            BusValue.NamedValue(name: "category", value: .string(category.rawValue)),
            BusValue.NamedValue(name: "desktop-entry", value: .string(Self.desktopEntry)),
        ]
        if ring != .no { hints.append(BusValue.NamedValue(name: "suppress-sound", value: .bool(true))) }
        if let progress, capabilities.hasNamedBars {
            hints.append(BusValue.NamedValue(name: "value", value: .int32(progress)))
        }
        return hints
    }

    /// The call that closes a notification.
    static func close(_ number: UInt32) -> MethodCall {
        MethodCall(.notifications, "CloseNotification", .uint32(number))
    }
}

/// An action of the user for a notification. The raw value is the action's name on the bus.
enum NotificationAction: String {
    /// Start it again with its duration.
    case again
    /// Start it for a while.
    case addTime = "add-time"
    /// A click on the notification itself, which some desktops show as a button. If a notification lacks this action, some
    /// desktops start the program of its desktop entry instead.
    case dismiss = "default"

    /// The title of its button.
    func title(_ strings: Strings) -> String {
        switch self {
        case .again: strings.text(.again)
        case .addTime: strings.text(.addTime, strings.duration(strings.snoozeUSec))
        case .dismiss: strings.text(.dismiss)
        }
    }
}

/// An ability of the notification service besides showing a summary, as its `GetCapabilities` names it.
enum Capability: String {
    case actions
    case body
    case bodyMarkup = "body-markup"
    /// Notifications without text, for example of the volume: an icon, and a bar for the hint `value`.
    case iconOnly = "x-canonical-private-icon-only"
}

typealias Capabilities = Set<Capability>

extension Capabilities {
    /// The capabilities with these names. Other names are ignored.
    init(named names: [String]) { self.init(names.compactMap(Capability.init)) }

    /// Whether a notification with a bar has its text, too.
    var hasNamedBars: Bool { !contains(.iconOnly) }
}

enum DesktopSignal: Equatable {
    /// The notification service was replaced, started or ended.
    case serviceChanged
    /// A notification was closed: by the user, or after its time or by a call.
    case closed(UInt32, byUser: Bool)
    case chosen(NotificationAction, UInt32)

    /// The calls that subscribe to these signals.
    static let subscriptions = [
        "type='signal',sender='\(bus.name)',interface='\(bus.interface)',member='NameOwnerChanged',arg0='\(service.name)'",
        "type='signal',sender='\(service.name)',interface='\(service.interface)',path='\(service.path)'",
    ].map { MethodCall(.bus, "AddMatch", .string($0)) }

    private static let bus = MethodCall.BusObject.bus
    private static let service = MethodCall.BusObject.notifications

    /// Nil if the message is another one.
    init?(_ message: IncomingMessage) {
        guard case .signal(let sender, let interface, let member, let values) = message else { return nil }
        // The reasons are 1 for the timeout, 2 for the user, 3 for a call, and 4.
        switch (interface, member, values.first, values.last) {
        case (Self.bus.interface, "NameOwnerChanged", .string(Self.service.name), _) where sender == Self.bus.name:
            self = .serviceChanged
        case (Self.service.interface, "NotificationClosed", .uint32(let number), let reason):
            self = .closed(number, byUser: reason == .uint32(2))
        case (Self.service.interface, "ActionInvoked", .uint32(let number), .string(let name)):
            guard let action = NotificationAction(rawValue: name) else { return nil }
            self = .chosen(action, number)
        default: return nil
        }
    }
}
