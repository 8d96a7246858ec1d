import TestSupport
import Testing

@testable import countdown_notify

@Suite("A connection to a session bus")
struct SessionBusTrials {
    @Test("a message that cannot be written is reported as such and does not cost the connection")
    func unwritable() throws {
        let desktop = try Desktop()
        let link = BusConnection(address: desktop.address)
        try #require(link.advance().isEmpty)
        for text in [0xFFFF, 0xFDD0, 0x1FFFE].compactMap(Unicode.Scalar.init).map(String.init) {
            let call = MethodCall(.notifications, "Notify", .string(text))
            let result = link.send(NotificationQueue.Outgoing(purpose: .progress(key: "tea"), call: call))
            guard case .unwritable(.progress(key: "tea"), _) = result else {
                Issue.record("sd-bus writes \(text.unicodeScalars)")
                continue
            }
        }
        #expect(link.isOpen)
        let call = MethodCall(.bus, "GetId")
        #expect(link.send(NotificationQueue.Outgoing(purpose: .none, call: call)) == nil)
    }
}
