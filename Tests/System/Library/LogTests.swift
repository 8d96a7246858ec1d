import System
import TestSupport
import Testing

@Suite("The log")
struct LogTests {
    @Test("levels have the names and numbers of syslog(3)")
    func names() {
        let names = ["error": 3, "warning": 4, "notice": 5, "info": 6, "debug": 7] as [String: Int32]
        for (name, number) in names { #expect(Log.Level(name: name)?.rawValue == number) }
        for name in ["", "Error", "err", "warn", "0", "emerg"] { #expect(Log.Level(name: name) == nil) }
    }

    @Test("characters that cannot be seen are logged as escapes, because a line can contain a client's text")
    func escapes() {
        let lines = Lines()
        lines.log.write(.info, "tea\u{202E}\u{1B}[31m\u{200B}\u{E0041}\nready")
        #expect(lines.all == [#"info: tea\u{202e}\u{1b}[31m\u{200b}\u{e0041}\nready"#])
    }

    @Test("an error is more urgent than the other levels")
    func order() {
        #expect(Log.Level.allCases == Log.Level.allCases.sorted())
        #expect(Log.Level.error < .debug)
    }
}
