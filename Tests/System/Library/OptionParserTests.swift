import Testing
import Text

@Suite("The option parser of the daemons")
struct OptionParserTests {
    private func parse(_ arguments: String...) throws(OptionParser.UsageError) -> [OptionParser.Argument] {
        var parser = OptionParser(arguments, flags: ["--help", "-h"], options: ["--socket"])
        var parsed: [OptionParser.Argument] = []
        while let argument = try parser.next() { parsed.append(argument) }
        return parsed
    }

    @Test("options and operands may come in any order, and -- ends the options")
    func order() throws {
        #expect(
            try parse("a", "--socket", "/s", "-", "--socket=/t=u", "-h", "--", "--help", "--")
                == [
                    .operand("a"), .option("--socket", value: "/s"), .operand("-"),
                    .option("--socket", value: "/t=u"), .flag("-h"), .operand("--help"), .operand("--"),
                ]
        )
        #expect(try parse() == [])
    }

    @Test("an option without a value, a flag with one and an unknown option are refused")
    func refuses() {
        let noValue = OptionParser.UsageError("--socket needs a value; see --help")
        #expect(throws: noValue) { try parse("--socket") }
        #expect(throws: noValue) { try parse("--socket=", "/s") }
        #expect(throws: OptionParser.UsageError("--help takes no value; see --help")) { try parse("--help=1") }
        #expect(throws: OptionParser.UsageError(#"unknown option '--a\u{1b}'; see --help"#)) {
            try parse("--a\u{1B}=1")
        }
    }

    @Test("an invalid value is named with what is expected")
    func invalid() {
        let error = OptionParser.UsageError(invalid: "x", of: "--durability", expectation: "process or power-loss")
        #expect(error.sentence == "invalid --durability 'x': use process or power-loss")
    }
}
