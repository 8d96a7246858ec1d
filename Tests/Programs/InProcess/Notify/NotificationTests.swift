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
                .strings(["again", "Again", "add-time", "+1 min", "default", "Dismiss"]), .dictionary(hints),
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

    @Test("no two buttons have one title, whatever a notification is about")
    func titles() {
        let ends = [ended("tea"), ended("egg"), ended("toast"), ended("cake")]
        let all: [EndNotification] = [.gap, .one(ends[0]), .several(newest: ends, count: 4)]
        let made = all.map { $0.notification(.at(0), AnnouncementRules()) } + [notification]
        for notification in made {
            let actions = notification.call(under: self.all).actions
            let titles = stride(from: 1, to: actions.count, by: 2).map { actions[$0] }
            #expect(Set(titles).count == titles.count && titles.last == "Dismiss", "\(titles)")
        }
    }

    @Test("a service that shows bars without text gets no bar, and updates when the text changes only")
    func namelessBars() {
        let notification = Notification(category: .progress, summary: "tea", body: "Ends at 12:00", progress: 42)
        let capabilities = Capabilities(named: ["body", "x-canonical-private-icon-only"])
        let call = notification.call(under: capabilities)
        #expect(call.hint("value") == nil)
        #expect(call.texts == ["tea", "Ends at 12:00"])
        var progress = ProgressNotifications()
        progress.hasBars = false
        _ = progress.receive(event(.started, running("tea")))
        #expect(progress.next(.at(0)) != nil)
        _ = progress.receive(Event(type: .tick, key: "tea", remainingUSec: 50_000_000))
        #expect(!progress.hasNext)
        _ = progress.receive(event(.adjusted, running("tea", remaining: 90_000_000)))
        #expect(progress.hasNext)
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
        #expect(signal(service, "ActionInvoked", .uint32(3), .string("default")) == .chosen(.dismiss, 3))
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
