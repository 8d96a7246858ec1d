import Foundation
import IPC
import TestSupport
import Testing

@testable import countdownctl

@Suite("Drawing and alignment")
struct RenderingTests {
    @Test(
        "the remaining time is rounded up to whole seconds",
        arguments: [
            (0, "0:00"), (1, "0:01"), (1_000_000, "0:01"), (1_000_001, "0:02"), (299_000_001, "5:00"),
            (3_599_000_000, "59:59"), (3_600_000_000, "1:00:00"), (3_723_000_000, "1:02:03"),
            (93_784_000_000, "1d 2:03:04"), (-1, "0:00"),
        ] as [(Int64, String)]
    )
    func showsRemaining(_ microseconds: Int64, _ text: String) {
        #expect(RemainingFormat.render(microseconds) == text)
    }

    @Test(
        "the width of text is its number of terminal columns",
        arguments: [
            ("", 0), ("tea", 3), ("Grün", 4), ("茶", 2), ("お茶", 4), ("e\u{301}", 1), ("\u{1F375}", 2), ("한국", 4),
            ("ａ", 2), ("\u{2615}\u{FE0F}", 2), ("\u{200B}", 0), ("🇩🇪", 2), ("👩‍👩‍👧", 2), ("ﬁ", 1), ("\u{2329}", 2),
            ("\u{3248}", 2), ("\u{18D08}", 2), ("\u{1F300}", 2), ("\u{1F9FF}", 2), ("चाय की", 6), ("กำ", 2),
            ("தேநீர்", 4), ("\u{1100}\u{1161}\u{11A8}", 2), ("a\u{AD}b", 3), ("👩🏽‍🚒☝🏽", 4), ("1️⃣", 2), ("☎︎", 1),
            ("🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}", 2),
        ] as [(String, Int)]
    )
    func measures(_ text: String, _ width: Int) {
        #expect(DisplayWidth.of(text) == width)
    }

    @Test("each character is as wide as the GNU C library has it, which terminals follow")
    func measuresAsTerminals() throws {
        let scalars = (0x20...0x10FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)
        // Not every release of the library has newer characters, or knows that this vowel of Ahom has a space of its own.
        let known = scalars.filter { ($0.properties.age?.major ?? 99) < 14 && $0 != "\u{1171E}" }
        #expect(known.count > 100_000)
        let wrong = zip(known, try TerminalWidth.columns(of: known)).filter {
            $1 >= 0 && DisplayWidth.of(String($0)) != $1
        }
        #expect(wrong.map { "\(String($0.0.value, radix: 16)): \($0.1)" } == [])
    }

    @Test("a prefix is cut between characters and is never wider than asked")
    func cuts() {
        #expect(DisplayWidth.prefix("お茶が入った", columns: 5) == "お茶")
        #expect(DisplayWidth.prefix("tea", columns: 5) == "tea")
        #expect(DisplayWidth.prefix("tea", columns: 0) == "")
    }

    @Test("columns are aligned by width, colours aside, and no line ends with spaces")
    func aligns() {
        let table = Table(columns: [
            Table.Column(title: "KEY", cells: [Table.Cell(text: "茶", tint: .green), Table.Cell(text: "coffee")]),
            Table.Column(
                title: "LEFT",
                alignsRight: true,
                cells: [Table.Cell(text: "4:59"), Table.Cell(text: "1:02:03")]
            ),
            Table.Column(title: "LABEL", cells: [Table.Cell(text: ""), Table.Cell(text: "black")]),
        ])
        #expect(
            table.lines(legend: true, palette: .plain) == [
                "KEY        LEFT  LABEL",
                "茶         4:59",
                "coffee  1:02:03  black",
            ]
        )
        #expect(table.lines(legend: false, palette: .plain).count == 2)
        #expect(
            table.lines(legend: false, palette: Palette(isColoured: true))[0]
                == "\u{1B}[32m茶\u{1B}[0m         4:59"
        )
    }

    @Test("a bar is as full as its countdown is far")
    func fills() {
        #expect(ProgressBar.text(0.5, width: 10, .ascii) == "[#####-----]")
        #expect(ProgressBar.text(0, width: 10, .ascii) == "[----------]")
        #expect(ProgressBar.text(1, width: 10, .ascii) == "[##########]")
        #expect(ProgressBar.text(0.55, width: 10, .blocks) == "▕█████▌    ▏")
        #expect(ProgressBar.text(1, width: 10, .blocks) == "▕██████████▏")
    }

    @Test("a countdown is never less than not begun, or more than over", arguments: [(90, 0.0), (-5, 1.0), (30, 0.5)])
    func progresses(_ remaining: Int64, _ progress: Double) {
        #expect(countdown("tea", remaining, of: 60).progress == progress)
    }

    @Test("JSON has escapes for characters that cannot be seen, and is the same value")
    func escapesInJSON() throws {
        let json = "\"a\u{7F}\u{9B}2J\u{A0}ü茶\u{200B}\\u200b\u{E0041}👩‍👧\""
        let escaped = JSONText.escapingUnprintable(Array(json.utf8))
        #expect(
            String(decoding: escaped, as: UTF8.self)
                == "\"a\\u007f\\u009b2J\u{A0}ü茶\\u200b\\u200b\\udb40\\udc41👩‍👧\""
        )
        let value = try JSONSerialization.jsonObject(with: Data(escaped), options: .fragmentsAllowed)
        #expect(value as? String == "a\u{7F}\u{9B}2J\u{A0}ü茶\u{200B}\u{200B}\u{E0041}👩‍👧")
    }

    @Test("colors are used on terminals that support them, unless NO_COLOR is set or an option decides")
    func colours() {
        func allows(_ choice: ColorChoice, terminal: Bool, _ variables: [String: String]) -> Bool {
            choice.allows(isTerminal: terminal) { variables[$0] }
        }
        let xterm = ["TERM": "xterm"]
        #expect(allows(.auto, terminal: true, xterm))
        #expect(!allows(.auto, terminal: false, xterm))
        #expect(!allows(.auto, terminal: true, ["TERM": "xterm", "NO_COLOR": "1"]))
        for dumb in [["TERM": "dumb"], ["TERM": ""], [:]] { #expect(!allows(.auto, terminal: true, dumb)) }
        #expect(allows(.always, terminal: false, ["NO_COLOR": "1"]))
        #expect(!allows(.never, terminal: true, [:]))
    }

    @Test("keys that differ by an invisible character look different in a list")
    func tellsKeysApart() {
        let keys = ["tea", "te\u{200B}a", "te\u{200D}a", "\u{FEFF}tea", "tea\u{E0041}", "te\\u{200b}a", "tea\u{200F}"]
        let lines = CountdownTable.lines(
            keys.map { countdown($0, 300) },
            clock: ClockText(zone: TestZone.utc, now: noon),
            legend: false,
            palette: .plain
        )
        let escaped = ["tea", #"te\u{200b}a"#, #"te\u{200d}a"#, #"\u{feff}tea"#, #"tea\u{e0041}"#, #"te\\u{200b}a"#]
        #expect(lines.map { $0.prefix { $0 != " " } } == (escaped + [#"tea\u{200f}"#]).map { $0[...] })
    }

    @Test("on a narrow terminal a list has fewer columns, and only lines that cannot be cut are wider")
    func narrowsLists() throws {
        let all = [
            countdown("茶道", 300, label: "抹茶 with a label that goes on"),
            countdown("login/+8613800138000", 3_600, of: 3_600),
        ]
        func list(_ columns: Int?, _ glyphs: Glyphs = .blocks) -> [String] {
            let clock = ClockText(zone: TestZone.utc, now: noon)
            return CountdownTable.lines(
                all,
                clock: clock,
                legend: true,
                palette: .plain,
                columns: columns,
                glyphs: glyphs
            )
        }
        #expect(list(nil)[1].hasSuffix("  5m  12:05:00  抹茶 with a label that goes on"))
        #expect(list(80)[1].hasSuffix("  5m  12:05:00  抹茶 with a label…"))
        #expect(list(80, .ascii)[1].hasSuffix("~"))
        #expect(list(60)[0] == "KEY                   STATE    REMAINING  END       LABEL")
        #expect(list(41)[2] == "login/+8613800138000    1:00:00  13:00:00")
        #expect(list(30)[2] == "login/+8…    1:00:00  13:00:00")
        #expect(list(24)[2] == "login/+86138…    1:00:00")
        for columns in 14...120 { #expect(list(columns).allSatisfy { DisplayWidth.of($0) <= columns }, "\(columns)") }
    }
}
