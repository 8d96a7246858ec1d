import IPC
import Testing

@testable import countdown_notify

@Suite("A notification as a call")
struct NotificationTests {
    private let notification = EndNotification.one(ended("tea", label: "<Tea> & more")).notification(
        .at(0),
        AnnouncementRules(ring: .no)
    )
    private let all: Capabilities = [.actions, .body, .bodyMarkup]

    @Test("the call has the arguments of the specification, in their order and types")
    func call() {
        let call = notification.call(under: all)
        #expect(call.object == .notifications)
        #expect(call.member == "Notify")
        let hints: [BusValue.NamedValue] = [
            .init(name: "urgency", value: .byte(1)), .init(name: "category", value: .string("x-countdownd.ended")),
            .init(name: "desktop-entry", value: .string("countdown-notify")),
        ]
        #expect(
            call.arguments == [
                .string("Countdowns"), .uint32(0), .string("countdownd"), .string("<Tea> & more"),
                .string("Ended at 00:00"),
                .strings([
                    "default", "Dismiss", "again", "Again", "add-time", "+1 min", "dismiss", "Dismiss",
                ]), .dictionary(hints),
                .int32(-1),
            ]
        )
    }

    @Test("markup is escaped only in the body, and only if the service reads markup")
    func markup() {
        var notification = notification
        notification.body = "<b>a & b</b> \"c\""
        #expect(
            notification.call(under: all).texts == ["<Tea> & more", "&lt;b&gt;a &amp; b&lt;/b&gt; \"c\""]
        )
        #expect(notification.call(under: [.body]).texts == ["<Tea> & more", "<b>a & b</b> \"c\""])
    }

    @Test("if the service shows no body the summary has its text, and if it has no actions none are offered")
    func poor() {
        let call = notification.call(under: [])
        #expect(call.texts == ["<Tea> & more: Ended at 00:00", ""])
        #expect(call.actions.isEmpty)
    }

    @Test("progress is a hint between 0 and 100, of low urgency, and stays until it is closed")
    func progress() {
        let notification = Notification(category: .progress, summary: "tea", body: "", urgency: .low, progress: 42)
        let call = notification.call(replacing: 7, under: all)
        #expect(call.hint("value") == .int32(42))
        #expect(call.hint("urgency") == .byte(0))
        #expect(call.arguments[1] == .uint32(7))
        #expect(call.arguments[7] == .int32(0))
    }

    @Test("other capabilities are ignored")
    func capabilities() {
        #expect(Capabilities(named: ["body", "sound", "actions", "action-icons"]) == [.actions, .body])
        #expect(Capabilities(named: ["body-markup"]) == [.bodyMarkup])
        #expect(Capabilities(named: []).isEmpty)
    }

    @Test("signals of the notification service are understood, and others are ignored")
    func signals() {
        func signal(_ interface: String, _ member: String, _ values: BusValue...) -> DesktopSignal? {
            DesktopSignal(.signal(sender: "org.freedesktop.DBus", interface: interface, member: member, values))
        }
        let service = "org.freedesktop.Notifications"
        #expect(signal(service, "NotificationClosed", .uint32(3), .uint32(2)) == .closed(3, byUser: true))
        #expect(signal(service, "NotificationClosed", .uint32(3), .uint32(1)) == .closed(3, byUser: false))
        #expect(signal(service, "ActionInvoked", .uint32(3), .string("again")) == .chosen(.again, 3))
        #expect(signal(service, "ActionInvoked", .uint32(3), .string("default")) == .chosen(.click, 3))
        #expect(signal(service, "ActionInvoked", .uint32(3), .string("reply")) == nil)
        #expect(signal(service, "ActivationToken", .uint32(3), .string("again")) == nil)
        let changed = [service, ":1.1", ""].map(BusValue.string)
        let bus = "org.freedesktop.DBus"
        #expect(signal(bus, "NameOwnerChanged", changed[0], changed[1], changed[2]) == .serviceChanged)
        #expect(signal(bus, "NameOwnerChanged", .string("org.other"), changed[1], changed[2]) == nil)
        let forged = IncomingMessage.signal(sender: ":1.9", interface: bus, member: "NameOwnerChanged", changed)
        #expect(DesktopSignal(forged) == nil)
        #expect(DesktopSignal(.answer(call: 1, [])) == nil)
    }
}
