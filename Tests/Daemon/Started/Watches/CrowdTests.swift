import IPC
import TestSupport
import Testing
import Varlink

@Suite("Many countdowns and watchers")
struct CrowdTests {
    private let daemon: DaemonProcess
    private let caller: Caller

    init() throws {
        daemon = try DaemonProcess()
        caller = try Caller(of: daemon)
    }

    /// Starts countdowns that all end at one instant, which lies so far ahead that they can all be started before.
    ///
    /// - Returns: the revision of the last Start.
    private func start(_ keys: [String], ahead: Int64 = .seconds(3)) throws -> Int64 {
        let deadline = try caller.call(Start(key: "now", ifRunning: .restart)).countdown.startedUSec + ahead
        let parameters = #""deadlineUSec":\#(deadline),"ifRunning":"restart""#
        let calls = keys.map {
            #"{"method":"io.countdownd.Start","parameters":{"key":"\#($0)",\#(parameters)},"oneway":true}"#
        }
        try caller.connection.send(Array((calls.joined(separator: "\0") + "\0").utf8))
        let status = try caller.call(GetStatus())
        return status.running == keys.count + 1 ? status.revision : try start(keys, ahead: 2 * ahead)
    }

    @Test(
        "five thousand countdowns that end at one instant are delivered to ten watchers, once to each, in order"
    )
    func oneInstant() throws {
        let keys = (0..<5_000).map { "due/\($0)" }
        let revision = try start(keys)
        let watches = try (0..<10).map { _ in try RawWatch(of: daemon, "due/*", since: revision) }
        var heard = [[String]](repeating: [], count: watches.count)
        while heard.contains(where: { $0.count < keys.count }) {
            // The replies to the watchers are mostly the same, so each different one is parsed once.
            var last = (reply: "", keys: [String]())
            for (index, watch) in watches.enumerated() where heard[index].count < keys.count {
                let reply = try watch.reply()
                if reply != last.reply { last = (reply, RawWatch.keys(of: .finished, in: reply)) }
                heard[index] += last.keys
            }
        }
        #expect(heard.allSatisfy { $0 == keys })
        let counters = try caller.call(GetStatus()).counters
        #expect(counters["mostEndingsInTurn"] == 4_096)
    }

    @Test("no turn executes more than 256 calls, however many have arrived")
    func portions() throws {
        let calls = (0..<200).map { #"{"method":"io.countdownd.Start","oneway":true,"parameters":{"key":"\#($0)"}}"# }
        let bytes = Array((calls.joined(separator: "\0") + "\0").utf8)
        let connections = try (0..<40).map { _ in try daemon.connect() }
        for connection in connections { try connection.send(bytes) }
        for connection in connections {
            _ = try connection.exchange(#"{"method":"io.countdownd.GetStatus"}"#)
        }
        let counters = try caller.call(GetStatus()).counters
        #expect(counters["calls"] == 8_041)
        #expect((1...256).contains(try #require(counters["mostCallsInTurn"])))
    }
}
