import CountdownCore
import Testing

@testable import countdownd

@Suite("The command line of the daemon")
struct DaemonOptionsTests {
    private func options(_ arguments: String...) throws -> Options {
        guard case .run(let options) = try Options.parse(arguments) else { throw Options.Invalid(sentence: "no run") }
        return options
    }

    private func refusal(of arguments: String...) -> String? {
        do {
            _ = try Options.parse(arguments)
            return nil
        } catch {
            return error.sentence
        }
    }

    @Test("without arguments all is as it is by default")
    func defaults() throws {
        #expect(try options() == Options())
        #expect(Options().leeway == .zero)
        #expect(Options().access == .owner)
        #expect(Options().logLevel == .info)
        #expect(Options().socket == nil)
    }

    @Test("a value stands behind the flag or behind its equals sign, where it may hold another one")
    func values() throws {
        #expect(try options("--socket", "/run/s").socket == "/run/s")
        #expect(try options("--socket=/run/a=b").socket == "/run/a=b")
        #expect(try options("--state-directory", "/var/lib/c").stateDirectory == "/var/lib/c")
        #expect(try options("--access", "socket").access == .socket)
        #expect(try options("--log-level=debug").logLevel == .debug)
    }

    @Test("a flag that stands twice counts as it stands last")
    func twice() throws {
        #expect(try options("--log-level", "debug", "--log-level", "error").logLevel == .error)
    }

    @Test(
        "a leeway is a whole number with its unit, seconds where there is none",
        arguments: [
            ("0", 0), ("500us", 500), ("250ms", 250_000), ("1s", 1_000_000), ("2", 2_000_000), ("60min", 3_600_000_000),
        ] as [(String, Int64)]
    )
    func leeway(_ text: String, _ microseconds: Int64) throws {
        #expect(try options("--leeway", text).leeway == Duration(microseconds: microseconds))
    }

    @Test(
        "a leeway that is none, or longer than an hour, is refused with what one looks like",
        arguments: ["soon", "1.5s", "-1s", "1h", "s", " 1s", "1 s", "61min", "3601s", "99999999999999999999s", "٣s"]
    )
    func wrongLeeway(_ text: String) {
        #expect(
            refusal(of: "--leeway", text) == "--leeway \(text) is not a duration: 500us, 250ms and 1s are"
        )
    }

    @Test(
        "a flag without its value is refused",
        arguments: ["--socket", "--state-directory", "--leeway", "--access", "--log-level"]
    )
    func missingValue(_ flag: String) {
        #expect(refusal(of: flag) == "\(flag) needs a value, see --help")
        #expect(refusal(of: flag, "") == "\(flag) needs a value, see --help")
        #expect(refusal(of: "\(flag)=") == "\(flag) needs a value, see --help")
    }

    @Test("what is no flag is refused by its name", arguments: ["start", "--sockets=/run/s", "-v", "", "--"])
    func unknown(_ argument: String) {
        #expect(refusal(of: argument) == "there is no option \(argument), see --help")
    }

    @Test("an unknown value is refused with those that there are")
    func unknownValue() {
        #expect(refusal(of: "--access", "all") == "--access all: owner or socket is meant")
        #expect(
            refusal(of: "--log-level", "loud")
                == "--log-level loud: error, warning, notice, info or debug is meant"
        )
    }

    @Test("help and version come before all that follows, and after no fault")
    func helpAndVersion() throws {
        #expect(try Options.parse(["--help", "--nonsense"]) == .showHelp)
        #expect(try Options.parse(["-h"]) == .showHelp)
        #expect(try Options.parse(["--access", "socket", "--version"]) == .showVersion)
        #expect(refusal(of: "--nonsense", "--help") != nil)
    }

    @Test("the help names every flag", arguments: ["--socket", "--leeway", "--access", "--log-level", "--version"])
    func help(_ flag: String) {
        #expect(Options.help.contains(flag))
    }
}
