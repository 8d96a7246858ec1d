import Testing

@testable import countdownctl

@Suite("Input from a terminal")
struct InputReaderTests {
    private func read(_ text: String) -> [TerminalInput] {
        var reader = InputReader()
        return reader.read(text.utf8) + reader.flush()
    }

    @Test(
        "keys are read in all the forms that terminals send them in",
        arguments: [
            ("a", .character("a")), ("茶", .character("茶")), (" ", .character(" ")), ("\r", .enter), ("\n", .enter),
            ("\t", .tab), ("\u{7F}", .backspace), ("\u{8}", .backspace), ("\u{1B}", .escape), ("\u{3}", .control("c")),
            ("\u{1B}[A", .up), ("\u{1B}OA", .up), ("\u{1B}[B", .down), ("\u{1B}[C", .right), ("\u{1B}OD", .left),
            ("\u{1B}[H", .home), ("\u{1B}[1~", .home), ("\u{1B}[7~", .home), ("\u{1}", .home), ("\u{1B}OF", .end),
            ("\u{1B}[4~", .end), ("\u{5}", .end), ("\u{1B}[3~", .delete), ("\u{1B}OM", .enter), ("\u{1B}[1;5C", .right),
        ] as [(String, TerminalKey)]
    )
    func keys(_ sent: String, _ key: TerminalKey) {
        #expect(read(sent) == [.key(key)])
    }

    @Test(
        "unknown sequences are skipped as a whole",
        arguments: [
            "\u{1B}[15~", "\u{1B}[[A", "\u{1B}x", "\u{1B}[?62;c", "\u{1B}[>0;276;0c", "\u{1B}[<64;3;3M",
            "\u{1B}[<0;3;3m", "\u{1B}[<2;3;3M", "\u{1B}[<32;3;3M", "\u{1}\u{0}", "\u{1B}[99999999999999999999~",
        ]
    )
    func strangers(sent: String) {
        #expect(read(sent + "x").filter { $0 != .key(.home) } == [.key(.character("x"))])
    }

    @Test("a click is one of the first button, with its position from 0")
    func clicks() {
        #expect(read("\u{1B}[<0;5;3M\u{1B}[<0;5;3m") == [.click(row: 2, column: 4)])
        #expect(read("\u{1B}[<8;1;1M") == [.click(row: 0, column: 0)])
    }

    @Test("the terminal's reports are read: the position of the cursor, and whether it has the keyboard")
    func answers() {
        #expect(read("\u{1B}[12;1R") == [.cursor(row: 11, column: 0)])
        #expect(read("\u{1B}[I\u{1B}[O") == [.focus(true), .focus(false)])
    }

    @Test("a paste is one text, whatever it holds")
    func pastes() {
        #expect(read("\u{1B}[200~12\u{1B}[A\r34\u{1B}[201~5") == [.paste("12\u{1B}[A\r34"), .key(.character("5"))])
        #expect(read("\u{1B}[200~\u{1B}[201~") == [.paste("")])
    }

    @Test("bytes may arrive one by one")
    func pieces() {
        let sent = "a茶\u{1B}[A\u{1B}[200~1 茶 2\u{1B}[201~\u{1B}[<0;5;3M\u{1B}OB\u{1B}[O"
        var reader = InputReader()
        let inputs = sent.utf8.flatMap { reader.read([$0]) }
        #expect(inputs == read(sent))
        #expect(inputs.count == 7)
        #expect(!reader.isPartial)
    }

    @Test("an escape is a key if nothing follows, and may begin a sequence until then")
    func escapes() {
        var reader = InputReader()
        #expect(reader.read([0x1B]).isEmpty)
        #expect(reader.isPartial)
        #expect(reader.flush() == [.key(.escape)])
        #expect(!reader.isPartial)
        #expect(reader.read([0x1B, 0x1B]) == [.key(.escape)])
        #expect(reader.read(Array("[D".utf8)) == [.key(.left)])
    }

    @Test("the beginning of a function key of the console is dropped if nothing follows")
    func partialFunctionKey() {
        var reader = InputReader()
        #expect(reader.read(Array("\u{1B}[[".utf8)).isEmpty)
        #expect(reader.isPartial)
        #expect(reader.flush().isEmpty)
        #expect(!reader.isPartial)
        #expect(reader.read(Array("q".utf8)) == [.key(.character("q"))])
    }

    @Test(
        "a position of the lowest or highest number is skipped, and later keys are read",
        arguments: ["-9223372036854775808", "9223372036854775807"]
    )
    func extremeNumbers(_ number: String) {
        var reader = InputReader()
        let inputs = reader.read(Array("\u{1B}[\(number);1R\u{1B}[<0;1;\(number)Mq".utf8))
        #expect(inputs.last == .key(.character("q")))
    }

    @Test("a paste without an end keeps its last part, and later keys are read")
    func endlessPaste() {
        var reader = InputReader()
        #expect(reader.read(Array("\u{1B}[200~".utf8)).isEmpty)
        for _ in 0..<40 { #expect(reader.read([UInt8](repeating: 0x31, count: 4_096)).isEmpty) }
        #expect(!reader.isPartial)
        let inputs = reader.read(Array("29\u{1B}[201~q".utf8))
        guard case .paste(let text) = inputs.first else {
            Issue.record("no paste")
            return
        }
        #expect(text.utf8.count == InputReader.pasteLimit)
        #expect(text.hasSuffix("129"))
        #expect(inputs.last == .key(.character("q")))
    }

    @Test("bytes that are not UTF-8 are skipped and do not delay later ones")
    func noText() {
        var reader = InputReader()
        #expect(reader.read([0xFF, 0xC3, 0x28, 0x61]).last == .key(.character("a")))
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                var reader = InputReader()
                let inputs = reader.read([first, second]) + reader.flush() + reader.read(Array("\u{1B}[201~z".utf8))
                #expect(inputs.last == .key(.character("z")) || first == 0x1B)
            }
        }
    }
}
