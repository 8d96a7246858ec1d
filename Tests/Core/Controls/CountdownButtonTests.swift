import CountdownControls
import Testing

/// What the cases in Tests/Core/Controls/Cases do not have, because only the Swift button has it.
@Suite("The button that counts")
struct CountdownButtonTests {
    private let now = Duration.seconds(7)

    private func press(_ button: inout CountdownButton) {
        let isSent = button.press(at: now)
        #expect(isSent)
    }

    @Test("a button that is not available ignores presses, and counts as usual")
    func unavailable() {
        var button = CountdownButton()
        button.isAvailable = false
        let isSent = button.press(at: now)
        #expect(!isSent && !button.isEnabled(at: now))
        button.count(.seconds(2), at: now)
        #expect(button.title(at: now) == "2 s")
        button.isAvailable = true
        #expect(!button.isEnabled(at: now))
        #expect(button.isEnabled(at: now + .seconds(2)))
    }

    @Test("the reason of a failure stays until the next press or count")
    func failure() {
        var button = CountdownButton()
        press(&button)
        button.fail("no network")
        #expect(button.failure == "no network" && button.isEnabled(at: now))
        press(&button)
        #expect(button.failure == nil)
        button.fail("no network")
        button.tick(.seconds(5), at: now)
        #expect(button.failure == "no network" && button.state(at: now) == .idle)
        button.count(.seconds(5), at: now)
        #expect(button.failure == nil)
    }

    @Test("a tick corrects what remains, while it sends too, and without a count does nothing")
    func ticks() {
        var button = CountdownButton()
        button.tick(.seconds(5), at: now)
        #expect(button.state(at: now) == .idle)
        press(&button)
        button.count(.seconds(5), at: now)
        button.tick(.seconds(4), at: now + .milliseconds(900))
        #expect(button.remaining(at: now + .seconds(1)) == nil)
        button.succeed()
        #expect(button.remaining(at: now + .seconds(1)) == .milliseconds(3900))
        button.end()
        button.tick(.seconds(3), at: now + .seconds(2))
        #expect(button.state(at: now + .seconds(2)) == .again)
    }

    @Test("a paused count stands still and needs no wake-up")
    func pauses() {
        var button = CountdownButton()
        button.count(.seconds(30), isPaused: true, at: now)
        #expect(button.isPaused && button.nextChange(after: now) == nil)
        #expect(button.title(at: now + .seconds(100)) == "30 s" && !button.isEnabled(at: now + .seconds(100)))
        button.count(.seconds(30), at: now + .seconds(100))
        #expect(!button.isPaused && button.title(at: now + .seconds(101)) == "29 s")
    }

    @Test("if the count is forgotten, the titles are as before it")
    func forgets() {
        var button = CountdownButton(.init(again: "Resend"))
        button.count(.seconds(30), at: now)
        button.forget()
        #expect(button.title(at: now) == "Get code")
        button.count(.seconds(30), at: now)
        button.end()
        button.count(.seconds(30), at: now)
        button.forget()
        #expect(button.title(at: now) == "Resend")
    }

    @Test("the line beside it shows while it counts only")
    func message() {
        var button = CountdownButton(.init(sent: "Sent, again in {s} s"))
        #expect(button.message(at: now) == nil)
        press(&button)
        button.count(.seconds(9), at: now)
        #expect(button.message(at: now) == nil)
        button.succeed()
        #expect(button.message(at: now) == "Sent, again in 9 s")
        #expect(button.message(at: now + .seconds(9)) == nil)
    }

    @Test("nothing that is reported can overflow the clock")
    func extremes() {
        var button = CountdownButton(.init(counting: "{time}"))
        button.count(.microseconds(Int64.max), at: now)
        #expect(button.title(at: now).hasSuffix("d 4:00:55"))
        #expect(button.nextChange(after: now) != nil)
        button.tick(.microseconds(Int64.min), at: now)
        #expect(button.state(at: now) == .again)
    }
}
