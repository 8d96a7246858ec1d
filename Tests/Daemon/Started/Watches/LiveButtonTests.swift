import IPC
import TestSupport
import Testing

@Suite("The button of a key, with its connections", .serialized)
struct LiveButtonTests {
    private let directory: TemporaryDirectory
    private let countdowns: AsyncClient
    private let daemon: DaemonProcess

    init() throws {
        directory = try TemporaryDirectory()
        countdowns = AsyncClient(at: directory.path(of: "socket"))
        daemon = try DaemonProcess(in: directory)
    }

    private struct Failure: Error {}

    /// Shows the button until the condition holds.
    private func show(_ button: LiveButton, until condition: (KeyedButton) -> Bool) async throws -> KeyedButton {
        for try await picture in button where condition(picture) { return picture }
        throw Failure()
    }

    @Test("a press holds the key while the action runs, and counts; another button of the key counts with it")
    func counts() throws {
        try awaiting {
            let (ends, end) = AsyncStream.makeStream(of: Void.self)
            let button = countdowns.button("login", for: .seconds(50)) { for await _ in ends { break } }
            let other = countdowns.button("login", for: .seconds(50)) { Issue.record("it acted") }
            _ = try await show(button) { $0.isEnabled }
            button.press()
            _ = try await show(button) { $0.isBusy }
            let waiting = try await show(other) { $0.countdown != nil }
            #expect(!waiting.isEnabled)
            other.press()
            end.yield()
            let counting = try await show(button) { $0.countdown != nil }
            #expect(counting.title.hasSuffix(" s") && !counting.isEnabled && counting.failure == nil)
            let remaining = try await countdowns.get("login").remaining
            #expect(remaining > .seconds(40) && remaining <= .seconds(50))
            try await countdowns.cancel("login")
            _ = try await show(button) { $0.isEnabled }
            _ = try await show(other) { $0.isEnabled }
        }
    }

    @Test("if the action fails, the button says why, and the key is given back")
    func fails() throws {
        try awaiting {
            let button = countdowns.button("login", for: .seconds(50)) { throw Failure() }
            _ = try await show(button) { $0.isEnabled }
            button.press()
            let failed = try await show(button) { $0.failure != nil }
            #expect(failed.failure == "Failure()" && failed.isEnabled)
            #expect(try await countdowns.get("login").state == .cancelled)
        }
    }

    @Test("if the loop is left while the action runs, the key counts when the action has ended")
    func isLeft() throws {
        try awaiting {
            let (starts, begin) = AsyncStream.makeStream(of: Void.self)
            let (ends, end) = AsyncStream.makeStream(of: Void.self)
            do {
                let button = countdowns.button("login", for: .seconds(5)) {
                    begin.yield()
                    for await _ in ends { break }
                }
                _ = try await show(button) { $0.isEnabled }
                button.press()
                for await _ in starts { break }
            }
            let held = try await countdowns.get("login")
            #expect(held.durationUSec == 30_000_000)
            end.yield()
            for try await case .event(let event) in countdowns.events(Watch(tick: .zero, keys: ["login"])) {
                guard let countdown = event.countdown, countdown.durationUSec < 30_000_000 else { continue }
                #expect(countdown.state == .running && countdown.remaining <= .seconds(5))
                break
            }
        }
    }

    @Test("while the daemon is away it cannot be pressed and counts on; a key that is not valid is an error")
    func isAway() throws {
        try awaiting {
            _ = try await countdowns.start("login", for: .seconds(3600))
            let button = countdowns.button("login", for: .seconds(50)) { Issue.record("it acted") }
            let counting = try await show(button) { $0.countdown != nil }
            try daemon.kill()
            let away = try await show(button) { $0.isAway && $0.title != counting.title }
            #expect(away.countdown?.startedUSec == counting.countdown?.startedUSec)
            let invalid = countdowns.button("", for: .seconds(50)) {}
            let second = try DaemonProcess(in: directory)
            defer { withExtendedLifetime(second) {} }
            await #expect(throws: ClientError.self) { _ = try await show(invalid) { _ in false } }
        }
    }
}
