import Glibc
import IPC
import TestSupport
import Testing

@Suite("The figures of the daemon")
struct FiguresTests {
    @Test("the lateness of ends is counted as it is delivered, unless the deadline came while no daemon ran")
    func lateness() throws {
        let directory = try TemporaryDirectory()
        do {
            let daemon = try DaemonProcess(in: directory)
            let caller = try Caller(of: daemon)
            let follower = try Follower(of: daemon, Watch(match: ["short/*"], tick: .zero))
            try follower.events(through: .synced)
            _ = try caller.call(Start(key: "later", durationUSec: .milliseconds(1_500)))
            for number in 1...5 {
                _ = try caller.call(Start(key: "short/\(number)", durationUSec: .milliseconds(20 * Int64(number))))
            }
            _ = try caller.call(Start(key: "cancelled"))
            _ = try caller.call(Finish(key: "cancelled"))
            let late = try follower.events(through: .finished, of: "short/5").compactMap(\.lateUSec).sorted()
            try #require(late.count == 5)
            let lateness = try #require(caller.call(GetStatus()).lateness)
            #expect(lateness.count == 5)
            #expect(lateness.sumUSec == late.reduce(0, +))
            #expect(lateness.greatestUSec == late[4])
            for (bound, count) in try #require(lateness.atMost) {
                let limit = try #require(Int64(bound))
                #expect(late.count { $0 <= limit } == Int(count))
            }
            #expect((late[2]...late[2] + late[2] / 16).contains(lateness.p50USec))
            #expect(lateness.p99USec == late[4])
            try daemon.kill()
        }
        letPass(.milliseconds(1_600))
        let daemon = try DaemonProcess(in: directory)
        let caller = try Caller(of: daemon)
        #expect(try caller.call(Wait(key: "later")).countdown.state == .finished)
        #expect(try caller.call(GetStatus()).lateness?.count == 0)
    }

    @Test("bytes that a client does not read are counted until it has left")
    func unsentBytes() throws {
        let daemon = try DaemonProcess()
        let caller = try Caller(of: daemon)
        func unsent() throws -> Int64 { try #require(caller.call(GetStatus()).queues?["unsentBytes"]) }
        do {
            let slow = try Follower(of: daemon, Watch(tick: .zero))
            try slow.events(through: .synced)
            let label = String(repeating: "x", count: 1_000)
            try waitUntil("unsent bytes") {
                for _ in 0..<50 { try caller.send(Start(key: "busy", ifRunning: .restart, label: label), oneway: true) }
                return try unsent() > 1_000
            }
        }
        try waitUntil("the end of the client") { try unsent() == 0 }
    }

    @Test("ends that could not be stored are counted until they are, and why is said")
    func unstoredChanges() throws {
        let daemon = try DaemonProcess()
        let caller = try Caller(of: daemon)
        _ = try caller.call(Start(key: "tea", durationUSec: .milliseconds(300)))
        #expect(try caller.call(GetStatus()).storageFailure == nil)
        let writer = try DatabaseWriter(in: daemon.stateDirectory)
        #expect(throws: CountdownError.self) { try caller.call(Start(key: "coffee")) }
        #expect(try caller.call(GetStatus()).storageFailure == "database is locked")
        _ = try caller.call(Wait(key: "tea"))
        #expect(try caller.call(GetStatus()).queues?["unstoredChanges"] == 1)
        writer.end()
        try waitUntil("the end to be stored") { try caller.call(GetStatus()).queues?["unstoredChanges"] == 0 }
        #expect(try caller.call(GetStatus()).storageFailure == nil)
    }
}
