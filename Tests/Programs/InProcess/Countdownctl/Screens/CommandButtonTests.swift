import CountdownControls
import IPC
import System
import Testing
import Varlink

@testable import countdownctl

@Suite("The button")
struct CommandButtonTests {
    private static let command = ShellCommand.words(["send-code", "+86"])
    private static let start = Start(key: "login", durationUSec: 60_000_000)
    /// The start that holds the key while the command runs.
    private static let held = Start(key: "login", durationUSec: 60_000_000, ifRunning: .fail, metadata: [:])
    private static let success = CommandEnding(cause: .ended(.exited(code: 0)))

    private func button(
        title: String = "Get code",
        again: String? = nil,
        counting: String = "{s} s",
        sent: String? = nil,
        command: ShellCommand? = command
    ) -> CommandButton {
        let titles = CountdownButton.Titles(
            idle: title,
            counting: RemainingText(counting),
            again: again,
            sent: sent.map { RemainingText($0) }
        )
        return CommandButton(titles, command: command, start: Self.start)
    }

    /// A button of which it is known that it does not count.
    private func idle(_ button: CommandButton) -> CommandButton {
        var button = button
        _ = button.handle(synced)
        return button
    }

    private func login(_ left: Int64, _ state: Countdown.State = .running) -> Countdown {
        countdown("login", left, of: 60, state, revision: 60 - left)
    }

    /// A button whose command runs.
    private func running(_ button: CommandButton) -> CommandButton {
        var button = idle(button)
        #expect(button.press().count == 1)
        #expect(button.handle(.answered(.success(login(60)))).last == .run(Self.command))
        return button
    }

    /// A button that was pressed, with a command that has succeeded.
    private func counting(_ button: CommandButton) -> CommandButton {
        var button = running(button)
        _ = button.handle(.ended(Self.success))
        return button
    }

    private func picture(_ button: CommandButton, on canvas: Canvas = .plain()) -> [StyledLine] {
        ButtonPicture(button.control, on: canvas).frame.lines
    }

    @Test("it has the title \"Get code\" and can be pressed")
    func isIdle() throws {
        let button = idle(button())
        #expect(button.control.isEnabled)
        try expect(picture(button), toLookLike: "button-idle")
    }

    @Test("it cannot be pressed before it is known whether it counts")
    func isUnknown() {
        var button = button()
        #expect(button.press().isEmpty)
        _ = button.handle(told(.attached, login(30)))
        _ = button.handle(synced)
        #expect(button.control.countdown == login(30))
        #expect(button.press().isEmpty)
    }

    @Test("a press holds the key before it runs the command, and it cannot be pressed again while the command runs")
    func runs() throws {
        var button = idle(button())
        #expect(button.press().withoutToken == [.call(.start(Self.held))])
        #expect(button.control.isBusy)
        #expect(button.press().isEmpty)
        let started = button.handle(.answered(.success(login(60)), at: 5_000_000))
        #expect(started == [.wake(at: 35_000_000), .run(Self.command)])
        #expect(button.control.isBusy)
        #expect(button.press().isEmpty)
        try expect(picture(button), toLookLike: "button-running")
    }

    @Test("it counts from the command's success, with the whole number at once")
    func counts() throws {
        var button = running(button(sent: "Sent, again in {s} s"))
        button.count(to: .microseconds(2_000_000))
        let ending = CommandEnding(cause: .ended(.exited(code: 0)), lines: ["sent"])
        let moved = CountdownRequest.adjust(key: "login", by: 2_000_000, ifRevision: 0)
        #expect(button.handle(.ended(ending, at: 2_000_000)) == [.print(["sent"]), .wake(at: nil), .call(moved)])
        #expect(button.press().isEmpty)
        #expect(button.handle(.answered(.success(countdown("login", 60, of: 62, revision: 1)))) == [.wake(at: nil)])
        #expect(button.press().isEmpty)
        try expect(picture(button), toLookLike: "button-counting")
        button.count(to: .microseconds(53_000_000))
        try expect(picture(button), toLookLike: "button-counting-9")
    }

    @Test("a press without a command counts at once")
    func countsAlone() {
        var button = idle(button(command: nil))
        #expect(button.press().withoutToken == [.call(.start(Self.held))])
        #expect(button.press().isEmpty)
        let counting = button.handle(.answered(.success(login(60)), at: 5_000_000))
        #expect(counting.allSatisfy { if case .wake = $0 { true } else { false } })
        #expect(button.control.countdown == login(60))
    }

    @Test("at the end it has the title from before the press, no line beside it, and can be pressed")
    func ends() throws {
        var button = counting(button(sent: "Sent, again in {s} s"))
        _ = button.handle(told(.finished, login(0, .finished)))
        #expect(button.control.title == "Get code")
        try expect(picture(button), toLookLike: "button-idle")
        #expect(button.press().withoutToken == [.call(.start(Self.held))])
    }

    @Test("with --again it has that title from the first end on")
    func endsAnew() throws {
        var button = counting(button(again: "Resend", counting: "({ss}) Resend"))
        #expect(ButtonPicture(button.control, on: .plain()).title == "(60) Resend")
        button.count(to: .microseconds(51_000_000))
        #expect(ButtonPicture(button.control, on: .plain()).title == "(09) Resend")
        _ = button.handle(told(.cancelled, login(9, .cancelled)))
        #expect(button.control.title == "Resend")
        try expect(picture(button), toLookLike: "button-again")
        _ = button.press()
        _ = button.handle(.answered(.failure(.countdown(.storageFailed(reason: "no room")))))
        #expect(button.control.title == "Resend")
    }

    @Test(
        "a command that fails shows why, leaves no countdown, and can be tried again",
        arguments: [
            (
                CommandEnding(cause: .ended(.exited(code: 1)), lines: ["trying", "no network"]), "no network",
                ["trying"]
            ),
            (CommandEnding(cause: .ended(.exited(code: 3))), "'send-code' failed with exit code 3", []),
            (CommandEnding(cause: .ended(.killed(signal: 9))), "'send-code' was killed by signal 9", []),
            (CommandEnding(cause: .notRun(errno: 2)), "cannot run 'send-code': No such file or directory", []),
        ] as [(CommandEnding, String, [String])]
    )
    func fails(_ ending: CommandEnding, _ message: String, _ printed: [String]) {
        var button = running(button(again: "Resend"))
        let givenBack = CountdownRequest.cancel(key: "login", ifRevision: 0)
        #expect(button.handle(.ended(ending)) == [.print(printed), .wake(at: nil), .call(givenBack)])
        #expect(button.control.isBusy)
        _ = button.handle(.answered(.success(countdown("login", 60, of: 60, .cancelled, revision: 1))))
        // The watch may be late.
        _ = button.handle(told(.started, login(60)))
        _ = button.handle(told(.cancelled, countdown("login", 60, of: 60, .cancelled, revision: 1)))
        #expect(button.control.failure == message)
        #expect(picture(button)[1].text.hasSuffix("  \(message)"))
        #expect(button.control.title == "Get code")
        #expect(button.press().withoutToken == [.call(.start(Self.held))])
        #expect(button.control.failure == nil)
    }

    @Test("a refusal by the daemon is shown, and it can be pressed again")
    func refused() {
        var button = idle(button(command: nil))
        _ = button.press()
        _ = button.handle(.answered(.failure(.countdown(.storageFailed(reason: "no room")))))
        #expect(button.control.failure == "not stored, nothing changed: no room")
        #expect(button.control.isEnabled)
    }

    @Test("opened again it counts on with the length of its countdown, whatever --for is now")
    func keepsCounting() {
        var button = CommandButton(
            CountdownButton.Titles(),
            command: Self.command,
            start: Start(key: "login", durationUSec: 5_000_000)
        )
        _ = button.handle(told(.attached, login(42)))
        _ = button.handle(synced)
        #expect(ButtonPicture(button.control, on: .plain()).title == "42 s")
        #expect(button.press().isEmpty)
        _ = button.handle(told(.finished, login(0, .finished)))
        let held = Start(key: "login", durationUSec: 30_000_000, ifRunning: .fail, metadata: [:])
        #expect(button.press().withoutToken == [.call(.start(held))])
    }

    @Test("pressed elsewhere, it counts here too")
    func countsElsewhere() {
        var button = idle(button())
        _ = button.handle(told(.started, login(60)))
        #expect(!button.control.isEnabled)
        #expect(button.handle(told(.attached, countdown("other", 5))).isEmpty)
        #expect(button.control.countdown?.key == "login")
    }

    @Test("if another button was pressed just before, its command runs, and this one counts with it")
    func meetsAnother() {
        var button = idle(button())
        _ = button.press()
        let refusal = ClientError.countdown(.alreadyRunning(login(55), retryAfter: .seconds(55)))
        #expect(button.handle(.answered(.failure(refusal))).isEmpty)
        #expect(button.control.countdown == login(55) && button.control.failure == nil)
        _ = button.handle(told(.cancelled, countdown("login", 54, of: 60, .cancelled, revision: 6)))
        #expect(button.control.isEnabled)
    }

    @Test("while the command runs, the key is renewed")
    func renews() {
        var button = running(button())
        let renewed = CountdownRequest.adjust(key: "login", by: 31_000_000, ifRevision: 0)
        #expect(button.handle(.woken(at: 31_000_000)) == [.wake(at: nil), .call(renewed)])
        var longer = countdown("login", 60, of: 91, revision: 1)
        longer.startedUSec = login(60).startedUSec
        #expect(button.handle(.answered(.success(longer), at: 31_000_000)) == [.wake(at: 61_000_000)])
        #expect(button.control.isBusy && button.control.countdown == nil)
    }

    @Test("a countdown that another client starts anew while the command runs is left alone, and shown afterwards")
    func isReplaced() {
        var button = running(button())
        var other = countdown("login", 300, revision: 2)
        other.startedUSec += 1
        _ = button.handle(told(.restarted, other))
        #expect(button.control.isBusy && button.control.countdown == nil)
        _ = button.handle(.ended(Self.success, at: 1_000_000))
        let refusal = ClientError.countdown(.revisionMismatch(other))
        #expect(button.handle(.answered(.failure(refusal), at: 1_000_000)) == [.wake(at: nil)])
        #expect(button.control.countdown == other)
    }

    @Test("an older state that arrives late does not replace a newer one")
    func ignoresOlder() {
        var button = counting(button())
        _ = button.handle(told(.adjusted, countdown("login", 90, of: 90, revision: 9)))
        _ = button.handle(.answered(.success(login(60))))
        #expect(button.control.countdown?.revision == 9)
    }

    @Test("a paused countdown is shown as paused")
    func pauses() throws {
        var button = counting(button())
        _ = button.handle(told(.paused, countdown("login", 50, of: 60, .paused, revision: 10)))
        #expect(button.press().isEmpty)
        try expect(picture(button), toLookLike: "button-paused")
    }

    @Test("while the daemon is away it cannot be pressed")
    func losesDaemon() {
        var button = idle(button())
        _ = button.handle(.notice(.lost(.disconnected), sentence: nil))
        #expect(button.press().isEmpty)
        #expect(button.handle(.notice(.recovered, sentence: nil)).isEmpty)
        #expect(button.press().withoutToken == [.call(.start(Self.held))])
    }

    @Test("it counts on by itself, also while the daemon is away, until the next report")
    func countsOn() {
        var screen = ButtonScreen(button())
        screen.count(to: .microseconds(1_000_000))
        _ = screen.handle(told(.attached, login(42)))
        _ = screen.handle(synced)
        _ = screen.handle(.notice(.lost(.disconnected), sentence: nil))
        screen.count(to: .microseconds(3_500_000))
        let frame = screen.frame(on: .plain())
        #expect(frame.lines[1].text.contains("40 s") && frame.nextChange == 500_000)
        #expect(screen.remains(on: .plain())[0].text.contains("0:40 left"))
        _ = screen.handle(told(.attached, login(30)))
        screen.count(to: .microseconds(13_500_000))
        #expect(screen.frame(on: .plain()).lines[1].text.contains("20 s"))
        screen.count(to: .microseconds(60_000_000))
        #expect(screen.frame(on: .plain()).lines[1].text.contains("Get code"))
        #expect(screen.frame(on: .plain()).nextChange == nil && screen.handle(.click).isEmpty)
    }

    @Test("a command that runs while the daemon comes and goes ends with its own result")
    func losesDaemonWhileRunning() {
        var button = running(button())
        _ = button.handle(.notice(.lost(.disconnected), sentence: nil))
        _ = button.handle(.notice(.recovered, sentence: nil))
        #expect(button.control.isBusy && button.control.failure == nil)
        _ = button.handle(.ended(Self.success))
        #expect(button.control.countdown == login(60))
    }

    @Test("if the history was trimmed, it cannot be pressed until it is known again whether it counts")
    func forgets() {
        var button = counting(button(again: "Resend"))
        _ = button.handle(.notice(.historyTrimmed(oldestRevision: 1), sentence: nil))
        #expect(button.control.title == "Get code" && !button.control.isEnabled && button.control.countdown == nil)
        button.count(to: .microseconds(51_000_000))
        #expect(button.control.countdown == nil)
        _ = button.handle(synced)
        #expect(button.control.isEnabled)
    }

    @Test("a countdown that was forgotten while the daemon was away has ended")
    func missesEnd() {
        var button = counting(button())
        _ = button.handle(.notice(.lost(.disconnected), sentence: nil))
        _ = button.handle(.notice(.recovered, sentence: nil))
        #expect(!button.control.isEnabled)
        _ = button.handle(.notice(.forgotten(["login"]), sentence: nil))
        #expect(button.control.isEnabled)
    }

    @Test("it fits a terminal of any size; on a small one it is a line in brackets")
    func fits() throws {
        let button = counting(button(again: "もう一度", sent: "Sent, again in {s} s"))
        for columns in 1...60 {
            for rows in 1...6 {
                let lines = picture(button, on: .plain(columns: columns, rows: rows))
                #expect(lines.allSatisfy { $0.width <= columns })
            }
        }
        try expect(picture(button, on: .plain(columns: 30)), toLookLike: "button-30")
        try expect(picture(button, on: .plain(columns: 10)), toLookLike: "button-10")
        try expect(picture(button, on: .plain(.ascii)), toLookLike: "button-ascii")
        try expect(picture(idle(self.button()), on: .plain(.ascii)), toLookLike: "button-ascii-idle")
    }

    @Test("clicks count inside its frame only")
    func target() {
        let frame = ButtonPicture(idle(button()).control, on: .plain()).frame
        #expect(frame.hasTarget(row: 0, column: 0) && frame.hasTarget(row: 2, column: 13))
        #expect(!frame.hasTarget(row: 3, column: 0) && !frame.hasTarget(row: 0, column: 14))
    }

    @Test("enter, space and a click press it; q leaves, after the command if one runs")
    func screen() {
        for event in [ScreenEvent.key(.enter), .key(.character(" ")), .click] {
            var screen = ButtonScreen(idle(button()))
            #expect(screen.handle(event).withoutToken == [.call(.start(Self.held))])
            #expect(screen.handle(.key(.character("q"))).isEmpty)
            _ = screen.handle(.answered(.success(login(60))))
            #expect(screen.frame(on: .plain()).lines.last?.text.contains("waiting for the command") == true)
            #expect(screen.handle(.ended(Self.success)).last == .leave(.success))
        }
        var screen = ButtonScreen(idle(button()))
        #expect(screen.handle(.key(.character("x"))).isEmpty)
        #expect(screen.handle(.key(.character("q"))) == [.leave(.success)])
    }

    @Test("with --once it ends as soon as it counts, with 130 if it is left before")
    func once() {
        var screen = ButtonScreen(button(), leavesWhenCounting: true)
        #expect(screen.handle(told(.attached, login(30))).last == .leave(.success))
        var other = ButtonScreen(idle(button()), leavesWhenCounting: true)
        #expect(other.handle(.key(.character("q"))) == [.leave(.interrupted)])
        var third = ButtonScreen(running(button()), leavesWhenCounting: true)
        #expect(third.handle(.key(.character("q"))).isEmpty)
        #expect(
            third.handle(.ended(Self.success)).first { $0 == .leave(.success) || $0 == .leave(.interrupted) }
                == .leave(.success)
        )
    }

    @Test("on 20 columns, the key that leaves is the one that is named")
    func namesTheWayOut() {
        let lines = ButtonScreen(idle(button())).frame(on: .plain(columns: 19)).lines
        #expect(lines.last?.text == "q leave")
    }

    @Test("the line that stays says that the countdown runs on")
    func remains() {
        #expect(ButtonScreen(idle(button())).remains(on: .plain()).isEmpty)
        let remains = ButtonScreen(counting(button())).remains(on: .plain())
        #expect(remains.map(\.text) == ["login: running, 1:00 left, ends 12:01:00"])
        let narrow = ButtonScreen(counting(button())).remains(on: .plain(columns: 19))
        #expect(narrow.map(\.text) == ["login:", "running, 1:00 left…"])
    }
}
