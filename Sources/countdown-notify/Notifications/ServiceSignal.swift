/// What is heard of whoever shows notifications.
enum ServiceSignal: Equatable {
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

    private static let bus = MethodCall.Recipient.bus
    private static let service = MethodCall.Recipient.notifications

    /// Nil where the signal is none of these.
    init?(_ arrival: Arrival) {
        guard case .signal(let sender, let interface, let member, let values) = arrival else { return nil }
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
