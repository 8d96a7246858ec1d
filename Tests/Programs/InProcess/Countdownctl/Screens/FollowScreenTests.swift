import IPC
import Testing
import Varlink

@testable import countdownctl

@Suite("The screen of attach and watch")
struct FollowScreenTests {
    private func screen(_ subject: FollowScreen.Subject, _ countdowns: [Countdown]) -> FollowScreen {
        var screen = FollowScreen(subject)
        for countdown in countdowns { _ = screen.handle(told(.attached, countdown)) }
        _ = screen.handle(synced)
        return screen
    }

    private let tea = countdown("tea", 200, label: "Earl Grey")
    private let three = [
        countdown("tea", 200, label: "Earl Grey"), countdown("茶道", 100, label: "抹茶"),
        countdown("coffee", 90, .paused, label: nil),
    ]

    @Test("nothing is drawn before synced")
    func waits() {
        var screen = FollowScreen(.several)
        _ = screen.handle(told(.attached, tea))
        #expect(screen.frame(on: .plain()).lines.isEmpty)
        #expect(screen.remains(on: .plain()).isEmpty)
    }

    @Test("one countdown is a bar, on as many lines as the terminal needs", arguments: [79, 42, 30, 20, 8])
    func bar(columns: Int) throws {
        let frame = screen(.one, [tea]).frame(on: .plain(columns: columns))
        try expect(frame.lines, toLookLike: "bar-\(columns)")
    }

    @Test("however few rows there are, the key that leaves is named below", arguments: [2, 3])
    func namesTheWayOut(rows: Int) {
        for subject in [FollowScreen.Subject.one, .several] {
            let lines = screen(subject, three).frame(on: .plain(columns: 19, rows: rows)).lines
            #expect(lines.count <= rows && lines.last?.text == "q leave")
        }
    }

    @Test("a console without UTF-8 has a bar of ASCII")
    func asciiBar() throws {
        try expect(screen(.one, [tea]).frame(on: .plain(.ascii)).lines, toLookLike: "bar-ascii")
    }

    @Test("without input from the terminal, no keys are offered")
    func offersNoKeys() {
        #expect(screen(.one, [tea]).frame(on: .plain(hasKeys: false)).lines.last?.text == "ctrl-c leave")
    }

    @Test("several are a table, the soonest first, paused ones last", arguments: [79, 50, 40, 30, 20])
    func table(columns: Int) throws {
        try expect(screen(.several, three).frame(on: .plain(columns: columns)).lines, toLookLike: "table-\(columns)")
    }

    @Test("no line is wider than the terminal, and no picture higher")
    func fits() {
        for columns in 1...100 {
            for subject in [FollowScreen.Subject.one, .several] {
                for glyphs in [Glyphs.ascii, .blocks] {
                    let lines = screen(subject, three).frame(on: .plain(columns: columns, glyphs)).lines
                    #expect(lines.allSatisfy { $0.width <= columns })
                }
            }
        }
        let many = (0..<50).map { countdown("key \($0)", 100 + Int64($0)) }
        for rows in 4...60 {
            #expect(screen(.several, many).frame(on: .plain(rows: rows)).lines.count <= rows)
        }
        let lines = screen(.several, many).frame(on: .plain(rows: 6)).lines.map(\.text)
        #expect(lines[0].contains("key 0"))
        #expect(lines[3] == "and 47 more")
    }

    @Test("of very many the soonest are found all the same")
    func manySoonest() {
        let many = (0..<3_000).map { countdown("key \($0)", ($0 * 7_919) % 3_001 + 1, of: 4_000) }
        let screen = screen(.several, many)
        #expect(screen.soonest(5).map(\.remainingUSec) == Array(many.map(\.remainingUSec).sorted().prefix(5)))
    }

    @Test("an end is printed above the picture and removed from it")
    func ends() {
        var screen = screen(.several, three)
        let ended = countdown("tea", 0, .finished)
        guard case .told(let event) = told(.finished, ended) else { return }
        #expect(screen.handle(.told(event)) == [.tell(event)])
        #expect(Set(screen.countdowns.keys) == ["茶道", "coffee"])
    }

    @Test("space pauses and resumes, plus and minus change by a minute")
    func changes() {
        var screen = screen(.one, [tea])
        #expect(screen.handle(.key(.character(" "))) == [.call(.pause(key: "tea"))])
        #expect(screen.handle(.key(.character("+"))) == [.call(.adjust(key: "tea", by: 60_000_000))])
        #expect(screen.handle(.key(.character("-"))) == [.call(.adjust(key: "tea", by: -60_000_000))])
        _ = screen.handle(told(.paused, countdown("tea", 200, .paused)))
        #expect(screen.handle(.key(.character(" "))) == [.call(.resume(key: "tea"))])
        #expect(screen.handle(.key(.character("x"))).isEmpty)
    }

    @Test("minus a minute is not offered if that would end the countdown")
    func takesNoLastMinute() throws {
        var screen = screen(.one, [tea])
        _ = screen.handle(tick("tea", 60))
        #expect(screen.handle(.key(.character("-"))).isEmpty)
        try expect(screen.frame(on: .plain()).lines, toLookLike: "bar-too-little")
        _ = screen.handle(.key(.character("x")))
        #expect(screen.note == nil)
    }

    @Test("cancelling asks, and y alone does it")
    func cancels() throws {
        var screen = screen(.one, [tea])
        #expect(screen.handle(.key(.character("c"))).isEmpty)
        try expect(screen.frame(on: .plain(columns: 30)).lines, toLookLike: "bar-question")
        #expect(screen.handle(.key(.enter)).isEmpty)
        #expect(screen.handle(.key(.character("y"))).isEmpty)
        _ = screen.handle(.key(.character("c")))
        #expect(screen.handle(.key(.character("y"))) == [.call(.cancel(key: "tea"))])
    }

    @Test("q leaves: attach with 130, watch with 0")
    func leaves() {
        var attached = screen(.one, [tea])
        #expect(attached.handle(.key(.character("q"))) == [.leave(.interrupted)])
        var watching = screen(.several, three)
        #expect(watching.handle(.key(.character("q"))) == [.leave(.success)])
    }

    @Test("the selection moves by keys, and stays with its countdown")
    func selects() {
        var screen = screen(.several, three)
        #expect(screen.selection?.key == "茶道")
        _ = screen.handle(.key(.down))
        #expect(screen.selection?.key == "tea")
        _ = screen.handle(told(.adjusted, countdown("tea", 50)))
        #expect(screen.selection?.key == "tea")
        _ = screen.handle(.key(.up))
        #expect(screen.selection?.key == "tea")
        _ = screen.handle(told(.cancelled, countdown("tea", 50, .cancelled)))
        #expect(screen.selection?.key == "茶道")
        #expect(screen.handle(.key(.character(" "))) == [.call(.pause(key: "茶道"))])
    }

    @Test("the table scrolls to its selection, and says how many are above and below", arguments: 3...9)
    func scrolls(rows: Int) throws {
        var screen = screen(.several, (0..<20).map { countdown("key \($0)", 100 + Int64($0)) })
        for key in [TerminalKey.down, .up] {
            for _ in 0..<20 {
                let lines = screen.frame(on: .plain(rows: rows)).lines.map(\.text)
                let selected = try #require(screen.selection?.key)
                #expect(lines.contains { $0.hasPrefix("› \(selected) ") })
                #expect(lines.count == rows - 1)
                if rows > 4 {
                    let numbers = lines.compactMap { Int($0.replacing("and ", with: "").prefix { $0.isNumber }) }
                    #expect(lines.count { $0.contains("key") } + numbers.reduce(0, +) == 20)
                }
                _ = screen.handle(.key(key))
            }
        }
    }

    @Test("without a picture, keys change nothing")
    func changesNothingUnseen() {
        var screen = FollowScreen(.several)
        _ = screen.handle(told(.attached, tea))
        for key in [TerminalKey.character(" "), .character("+"), .character("-"), .character("c")] {
            #expect(screen.handle(.key(key)).isEmpty)
        }
        #expect(screen.note == nil)
    }

    @Test("a refusal is shown until the next key")
    func refusals() {
        var screen = screen(.one, [tea])
        _ = screen.handle(.answered(.failure(.countdown(.storageFailed(reason: "no room on the disk")))))
        #expect(screen.frame(on: .plain()).lines.last?.text == "not stored, nothing changed: no room on the disk")
        _ = screen.handle(.key(.character("x")))
        #expect(screen.frame(on: .plain()).lines.last?.text.hasPrefix("space pause") == true)
    }

    @Test("while the daemon is away the screen says so; countdowns that were forgotten meanwhile leave it")
    func losesDaemon() {
        var screen = screen(.several, three)
        _ = screen.handle(.notice(.lost(.disconnected), sentence: nil))
        #expect(screen.frame(on: .plain()).lines.last?.text.contains("reconnecting") == true)
        #expect(screen.handle(.notice(.recovered, sentence: nil)).isEmpty)
        _ = screen.handle(.notice(.forgotten(["coffee"]), sentence: nil))
        #expect(Set(screen.countdowns.keys) == ["tea", "茶道"])
    }

    @Test("it counts on by itself, also while the daemon is away, until the next report")
    func countsOn() {
        for subject in [FollowScreen.Subject.one, .several] {
            var screen = screen(subject, [tea])
            screen.count(to: .microseconds(5_000_000))
            #expect(screen.frame(on: .plain()).nextChange == 1_000_000)
            _ = screen.handle(.notice(.lost(.disconnected), sentence: nil))
            screen.count(to: .microseconds(7_250_000))
            let frame = screen.frame(on: .plain())
            #expect(frame.lines[0].text.contains("3:18") && frame.nextChange == 750_000)
            #expect(screen.remains(on: .plain())[0].text.contains("3:18"))
            _ = screen.handle(told(.attached, countdown("tea", 150)))
            screen.count(to: .microseconds(17_250_000))
            #expect(screen.frame(on: .plain()).lines[0].text.contains("2:20"))
            screen.count(to: .microseconds(300_000_000))
            #expect(screen.frame(on: .plain()).lines[0].text.contains(" 0:00 "))
            #expect(screen.frame(on: .plain()).nextChange == nil)
            _ = screen.handle(told(.paused, countdown("tea", 100, .paused)))
            screen.count(to: .microseconds(310_000_000))
            #expect(screen.selection?.remainingUSec == 100_000_000 && screen.frame(on: .plain()).nextChange == nil)
        }
    }

    @Test("without history the screen begins again")
    func losesHistory() {
        var screen = screen(.several, three)
        let trimmed = WatchEvent.historyTrimmed(oldestRevision: 1)
        #expect(screen.handle(.notice(trimmed, sentence: "ends may be missing")) == [.print(["ends may be missing"])])
        #expect(screen.handle(.notice(trimmed, sentence: nil)).isEmpty)
        #expect(screen.countdowns.isEmpty)
        #expect(screen.frame(on: .plain()).lines.isEmpty)
    }

    @Test("without live countdowns watch says so")
    func nothing() {
        #expect(screen(.several, []).frame(on: .plain()).lines.map(\.text) == ["nothing is running   q leave"])
    }
}
