import Foundation
import IPC
import TestSupport
import Testing
import Varlink

@Suite("Other people's clients", .enabled(if: TestPython.isAvailable, "make acceptance installs the Python packages"))
struct OtherClientTests {
    @Test(
        "a countdown outlives a client of another kind, and is found again by it",
        arguments: ["return_by_varlink", "return_by_asyncvarlink"]
    )
    func comesBack(_ script: String) throws {
        let daemon = try DaemonProcess()
        let script = BuiltProduct.packageDirectory.appendingPathComponent("Tests/EndToEndTests/Clients/\(script).py")
            .path
        let run = try RunningCommand([script, daemon.socketPath], executable: TestPython.path()).finish()
        #expect(run.exitCode == 0, "\(run.standardError)")
        let told = try run.standardOutput.split(separator: "\n").map { try JSONObject(parsing: Array($0.utf8)) }
        let starts = try told.filter { $0.has("start") }.map { try $0.decoded("start", as: Start.Reply.self) }
        #expect(starts.map(\.outcome) == [.started, .attached, .restarted, .started])
        let whole: [Int64] = [.seconds(60), .seconds(60), .milliseconds(100), .seconds(60)]
        #expect(starts.map(\.countdown.durationUSec) == whole)
        #expect(zip(starts, whole).map { $0.countdown.remainingUSec == $1 } == [true, false, true, true])
        let events = try told.filter { $0.has("event") }.map { try $0.decoded("event", as: Event.self) }
        #expect(events.map(\.type).filter { $0 != .synced } == [.attached, .finished])
        #expect(events.last { $0.type == .finished }?.remainingUSec == 0)
        let waited = try #require(told.first { $0.has("waited") }).decoded("waited", as: Wait.Reply.self)
        #expect(waited.countdown == events.last { $0.type == .finished }?.countdown)
        let error = try #require(told.last)
        #expect(try error.string("error") == "io.countdownd.NoSuchCountdown")
        #expect(try error.object("parameters").string("key") == "coffee")
    }
}
