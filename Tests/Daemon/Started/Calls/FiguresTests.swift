import Glibc
import IPC
import TestSupport
import Testing

@Suite("The figures of the daemon")
struct FiguresTests {
    @Test("the lateness of ends is delivered and counted; if the deadline came while no daemon ran, it is not counted")
    func lateness() throws {
        let directory = try TemporaryDirectory()
        let later: Countdown
        do {
            let daemon = try DaemonProcess(in: directory)
            let caller = try Caller(of: daemon)
            let follower = try daemon.watch(Watch(match: ["short/*"], tick: .zero))
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
            later = try caller.call(Start(key: "later", durationUSec: .milliseconds(500))).countdown
            try daemon.kill()
        }
        letPass(.milliseconds(600))
        let daemon = try DaemonProcess(in: directory)
        let caller = try Caller(of: daemon)
        let missed = Watch(match: ["later"], tick: .zero, since: later.revision)
        let ending = try #require(try Follower(of: daemon, missed).events(through: .synced).first)
        #expect(ending.type == .finished)
        #expect(ending.countdown?.endedUSec == later.deadlineUSec)
        #expect(ending.lateUSec ?? 0 > 0)
        #expect(try caller.call(GetStatus()).lateness?.count == 0)
    }

    @Test("ends that could not be stored are counted until they are, and why is said")
    func unstoredChanges() throws {
        let daemon = try DaemonProcess()
        let caller = try Caller(of: daemon)
        #expect(try caller.call(GetStatus()).storageFailure == nil)
        _ = try caller.call(Start(key: "tea", durationUSec: .seconds(1)))
        try daemon.process.setWritesFail(true)
        #expect(throws: CountdownError.self) { try caller.call(Start(key: "coffee")) }
        #expect(try caller.call(GetStatus()).storageFailure?.contains("File too large") == true)
        _ = try caller.call(Wait(key: "tea"))
        #expect(try caller.call(GetStatus()).queues?["unstoredChanges"] == 1)
        try daemon.process.setWritesFail(false)
        try waitUntil("the end to be stored") { try caller.call(GetStatus()).queues?["unstoredChanges"] == 0 }
        #expect(try caller.call(GetStatus()).storageFailure == nil)
    }
}
