import Foundation
import IPC

let countdowns = try AsyncClient()

for attempt in 1...2 {
    do throws(ClientError) {
        try await countdowns.start("login/138", for: .seconds(60), ifRunning: .fail)
        print("attempt \(attempt): a code is sent")
    } catch {
        guard case .countdown(.alreadyRunning(let running, let retryAfter)) = error else { throw error }
        // nil if the countdown is paused, or if calls queue for it
        let pause = retryAfter.map { "in \($0.components.seconds) s" } ?? "later"
        print("attempt \(attempt): \(running.key) again \(pause)")
    }
}

for attempt in 1...4 {
    do throws(ClientError) {
        try await countdowns.start("sms/138", for: .seconds(1200), ifRunning: .extend, upTo: .seconds(3600))
        print("attempt \(attempt): sent")
    } catch {
        guard case .countdown(.alreadyRunning(_, let retryAfter)) = error else { throw error }
        print("attempt \(attempt): again \(retryAfter.map { "in \($0.components.seconds / 60) min" } ?? "later")")
    }
}

try await countdowns.start("tea", for: .seconds(1), ifRunning: .restart)
print("tea is \(try await countdowns.wait(for: "tea").state)")

for try await element in countdowns.events(Watch(match: ["eggs/*"], tick: .zero)) {
    guard case .event(let event) = element else {
        print("the daemon is away")
        continue
    }
    print(event.type, event.key ?? "")
    if event.type == .finished { break }
}

func withDaemon(_ test: (AsyncClient) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("countdownd-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let daemon = Process()
    daemon.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    daemon.arguments = ["countdownd", "--socket", "\(folder)/socket", "--state-directory", "\(folder)/state"]
    daemon.standardError = FileHandle.nullDevice
    try daemon.run()
    defer {
        daemon.terminate()
        daemon.waitUntilExit()
    }
    let client = AsyncClient(at: "\(folder)/socket")
    while daemon.isRunning, (try? await client.list()) == nil { try await Task.sleep(for: .milliseconds(10)) }
    try await test(client)
}

try await withDaemon { client in
    try await client.start("login/138", for: .seconds(60))
    for countdown in try await client.list() { try await client.adjust(countdown.key, by: .seconds(-60)) }
    print("after a minute, it is \(try await client.get("login/138").state)")
}
