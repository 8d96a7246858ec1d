import Foundation
import IPC
import Testing
import Varlink

@testable import countdownctl

@Suite("A feed")
struct FeedTests {
    private let clock = ClockText(zone: TestZone.utc, now: 0)

    private func countdown(
        _ key: String,
        _ state: Countdown.State = .running,
        remaining: Int64,
        label: String? = nil
    ) -> Countdown {
        var countdown = ProgramTests.countdown(key, 0, of: 100, state, label: label)
        countdown.remainingUSec = remaining
        countdown.deadlineUSec = state == .running ? remaining : nil
        return countdown
    }

    private func event(_ type: Event.Kind, _ countdown: Countdown) -> Event {
        Event(type: type, key: countdown.key, remainingUSec: countdown.remainingUSec, countdown: countdown)
    }

    private func object(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    private func line(_ format: FeedFormat, _ countdowns: [Countdown]) -> String {
        FeedLine(format: format, thresholds: FeedClass.Thresholds()).render(countdowns, clock: clock)
    }

    @Test(
        "a template has a field for each value",
        arguments: [
            ("{key}", "tea"), ("{label}", "Green"), ("{remaining}", "1:10"), ("{s}", "70"), ("{percent}", "30"),
            ("{end}", "00:01:09"), ("{state}", "running"), ("{{{key}}} {s} s", "{tea} 70 s"),
        ]
    )
    func fillsTemplates(_ template: String, _ text: String) throws {
        let countdown = countdown("tea", remaining: 69_500_000, label: "Green")
        #expect(try Template(template).render(countdown, clock: clock) == text)
    }

    @Test("without a label a template shows the key, without control characters")
    func fillsWithoutLabel() throws {
        let rendered = try Template("{label}").render(countdown("a\u{1B}[2J", remaining: 1), clock: clock)
        #expect(rendered == "a\\u{1b}[2J")
    }

    @Test(
        "a label cannot begin a tag of polybar, alone or with the text beside it; the template's own tags stay",
        arguments: [
            ("{label}", "%{A1:rm:}x", "%\u{2060}{A1:rm:}x"), ("{s}%{label}", "{B#f00}", "5%\u{2060}{B#f00}"),
            ("{label}{{u}}", "5%", "5%\u{2060}{u}"),
            ("%{{F#f00}}{label}%{{F-}}", "100 % {a}", "%{F#f00}100 % {a}%{F-}"),
            ("{label}{key}", "%", "%\u{2060}{k}"), ("{label}", "%{\u{301}", "%\u{2060}{\u{301}"),
        ]
    )
    func beginsNoTags(_ template: String, _ label: String, _ text: String) throws {
        let format = try FeedFormat.template(Template(template))
        #expect(line(format, [countdown("{k}", remaining: 5_000_000, label: label)]) == text)
    }

    @Test(
        "an unknown field and a single brace are refused",
        arguments: ["{kye}", "{", "}", "{key", "key}", "{}"]
    )
    func refusesTemplates(_ text: String) { #expect(throws: CommandFailure.self) { try Template(text) } }

    @Test("a format is one of the three names or a template with a field", arguments: ["wayber", "", "{{}}"])
    func refusesFormats(_ text: String) throws {
        #expect(throws: CommandFailure.self) { try FeedFormat(text) }
        #expect(try FeedFormat("waybar") == .waybar)
        #expect(try FeedFormat("{s}") == .template(Template("{s}")))
    }

    @Test("the one that ends first comes first, paused ones after running ones, and finished ones before all")
    func orders() {
        var board = FeedBoard()
        #expect(board.countdowns.isEmpty)
        for one in [
            countdown("late", remaining: 9_000_000), countdown("paused", .paused, remaining: 1),
            countdown("early", remaining: 8_000_000),
        ] {
            let hasFinished = board.apply(event(.attached, one))
            #expect(!hasFinished)
        }
        #expect(board.countdowns.map(\.key) == ["early", "late", "paused"])
        let hasFinished = board.apply(event(.finished, countdown("late", .finished, remaining: 0)))
        #expect(hasFinished)
        #expect(board.countdowns.map(\.key) == ["late", "early", "paused"])
        board.finished = nil
        _ = board.apply(event(.cancelled, countdown("early", .cancelled, remaining: 5)))
        #expect(board.countdowns.map(\.key) == ["paused"])
    }

    @Test("timers are shown; cooldowns if they are asked for; what temporarily started, only if it is named")
    func chooses() {
        var cooldown = countdown("feed", remaining: 1)
        cooldown.metadata = CooldownMark.metadata
        let change = countdown("undo/dnd", remaining: 2)
        let failure = countdown("undo-failed/dnd", remaining: 3)
        let timer = countdown("tea", remaining: 4)
        func shown(_ cooldowns: Bool, _ typed: String...) -> [String] {
            let selection = KeySelection(typed: typed)
            var board = FeedBoard(shown: ShownCountdowns(hasCooldowns: cooldowns, selection: selection))
            for one in [cooldown, change, failure, timer] {
                _ = board.apply(event(.started, one))
                _ = board.apply(Event(type: .tick, key: one.key, remainingUSec: one.remainingUSec))
            }
            return board.countdowns.map(\.key)
        }
        #expect(shown(false) == ["tea"] && shown(false, "*") == ["tea"])
        #expect(shown(true) == ["feed", "tea"])
        #expect(shown(false, "feed", "undo/dnd") == ["feed", "undo/dnd", "tea"])
        #expect(shown(false, "undo*", "undo/*") == ["undo/dnd", "undo-failed/dnd", "tea"])
    }

    @Test("a timer whose key becomes that of a cooldown is not shown any more, nor is the cooldown's end")
    func changesKinds() {
        var board = FeedBoard()
        _ = board.apply(event(.started, countdown("tea", remaining: 4)))
        var cooldown = countdown("tea", remaining: 5)
        cooldown.metadata = CooldownMark.metadata
        _ = board.apply(event(.restarted, cooldown))
        #expect(board.countdowns.isEmpty)
        cooldown.state = .finished
        let hasFinished = board.apply(event(.finished, cooldown))
        #expect(!hasFinished && board.countdowns.isEmpty)
    }

    @Test("a reader of lines is told each minute, each ten seconds in the last minute, each second in the last ten")
    func paces() {
        let pace = TickPace()
        func printed(_ seconds: ClosedRange<Int64>) -> [Int64] {
            seconds.reversed().filter { pace.prints(Event(type: .tick, key: "tea", remainingUSec: $0 * 1_000_000)) }
        }
        let start = Event(type: .started, key: "tea", remainingUSec: 185_000_000)
        #expect(pace.prints(start) && pace.prints(start))
        #expect(printed(1...184) == [180, 120, 60, 50, 40, 30, 20] + (1...10).reversed())
        // A tick that is late stands for those before it.
        #expect(pace.prints(Event(type: .restarted, key: "tea", remainingUSec: 90_000_000)))
        #expect(pace.prints(Event(type: .tick, key: "tea", remainingUSec: 58_700_000)))
        #expect(!pace.prints(Event(type: .tick, key: "tea", remainingUSec: 58_000_000)))
        #expect(pace.prints(Event(type: .tick, key: "egg", remainingUSec: 58_000_000)))
    }

    @Test("ticks and the time update the remaining time")
    func countsDown() {
        var board = FeedBoard()
        _ = board.apply(event(.started, countdown("tea", remaining: 9_000_000)))
        _ = board.apply(Event(type: .tick, key: "tea", remainingUSec: 8_000_000))
        #expect(board.countdowns.map(\.remainingUSec) == [8_000_000])
        board.board.count(to: .microseconds(2_000_000))
        board.board.count(to: .microseconds(3_000_000))
        #expect(board.countdowns.map(\.remainingUSec) == [7_000_000])
        board.board.count(to: .microseconds(20_000_000))
        #expect(board.countdowns.map(\.remainingUSec) == [0])
    }

    @Test(
        "waybar's class depends on the remaining time",
        arguments: [
            (60_000_001, .running, "running"), (60_000_000, .running, "soon"), (10_000_001, .running, "soon"),
            (10_000_000, .running, "urgent"), (1, .paused, "paused"), (0, .finished, "finished"),
        ] as [(Int64, Countdown.State, String)]
    )
    func classes(_ remaining: Int64, _ state: Countdown.State, _ name: String) throws {
        let object = try object(line(.waybar, [countdown("tea", state, remaining: remaining)]))
        #expect(object["class"] as? String == name)
        #expect(object["alt"] as? String == name)
    }

    @Test("waybar's line has the first countdown in its text and all in its tooltip, in Pango markup")
    func showsOnWaybar() throws {
        let label = "<b>&\"it's\" &amp;</b>\n\u{1B}"
        let all = [countdown("tea", remaining: 75_000_000, label: label), countdown("egg", remaining: 80_000_000)]
        let line = line(.waybar, all)
        #expect(!line.contains("\n"))
        let object = try object(line)
        let text = try #require(object["text"] as? String)
        #expect(try PangoReader.text(of: text) == "<b>&\"it's\" &amp;</b>\\n\\u{1b} 1:15")
        let tooltip = try PangoReader.text(of: #require(object["tooltip"] as? String))
        #expect(tooltip.split(separator: "\n").count == 2)
        #expect(tooltip.hasSuffix("\negg: running, 1:20 left, ends 00:01:20"))
        #expect(object["percentage"] as? Int == 25)
    }

    @Test("the lines for waybar are those of the page about bars")
    func looksAsOnThePage() throws {
        let tea = ProgramTests.countdown("tea", 200, label: "Earl Grey")
        let coffee = ProgramTests.countdown("coffee", 90, .paused)
        let feed = FeedLine(format: .waybar, thresholds: FeedClass.Thresholds())
        var line = StyledLine()
        line.append(feed.render([tea, coffee], clock: ClockText(zone: TestZone.utc, now: noon)))
        try expect([line], toLookLike: "waybar")
    }

    @Test("a tooltip has twenty countdowns, and the number of the others")
    func limitsTooltips() throws {
        let all = (0..<25).map { countdown("\($0)", remaining: 1) }
        let tooltip = try #require(try object(line(.waybar, all))["tooltip"] as? String)
        #expect(tooltip.split(separator: "\n").count == 21)
        #expect(tooltip.hasSuffix("\nand 5 more"))
    }

    @Test("i3bar's lines are elements of an array without an end")
    func showsOnI3bar() throws {
        let feed = FeedLine(format: .i3bar, thresholds: FeedClass.Thresholds())
        let two = [countdown("a<b", remaining: 5_000_000), countdown("egg", remaining: 80_000_000)]
        let text =
            (feed.preamble ?? "") + [[], two].map { feed.render($0, clock: clock) }.joined(separator: "\n") + "[]]"
        let newline = try #require(text.firstIndex(of: "\n"))
        #expect(try object(String(text[..<newline]))["version"] as? Int == 1)
        let lines = try #require(
            try JSONSerialization.jsonObject(with: Data(text[newline...].utf8)) as? [[[String: Any]]]
        )
        #expect(lines.map(\.count) == [0, 1, 0])
        let block = lines[1][0]
        #expect(try PangoReader.text(of: #require(block["full_text"] as? String)) == "a<b 0:05 (+1)")
        #expect(block["short_text"] as? String == "0:05")
        #expect(block["markup"] as? String == "pango")
        #expect(block["urgent"] as? Bool == true)
    }

    @Test("without countdowns each format has an empty line")
    func showsNothing() throws {
        #expect(line(.json, []) == #"{"countdowns":[]}"#)
        #expect(line(.waybar, []) == #"{"text":"","alt":"idle","tooltip":"","class":"idle","percentage":0}"#)
        #expect(line(.i3bar, []) == "[],")
        #expect(try line(.template(Template("{key}!")), []).isEmpty)
    }
}

/// Reads text in Pango markup without any element, strictly.
enum PangoReader {
    struct Invalid: Error { let rest: Substring }

    /// The text that would be shown.
    static func text(of markup: String) throws -> String {
        let entities = ["&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'"]
        var rest = markup[...]
        var text = ""
        while let first = rest.first {
            if first == "&" {
                guard let entity = entities.first(where: { rest.hasPrefix($0.key) }) else { throw Invalid(rest: rest) }
                text += entity.value
                rest = rest.dropFirst(entity.key.count)
            } else {
                guard first != "<", first != ">" else { throw Invalid(rest: rest) }
                text.append(first)
                rest = rest.dropFirst()
            }
        }
        return text
    }
}
