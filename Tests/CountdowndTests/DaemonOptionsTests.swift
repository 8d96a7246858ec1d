import CountdownCore
import System
import Testing

@testable import countdownd

@Suite("The options of the daemon")
struct DaemonOptionsTests {
    private func options(_ arguments: String...) throws -> Options {
        guard case .run(let options) = try Options.parse(arguments) else { throw OptionParser.UsageError("no run") }
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

    @Test("without arguments every option has its default")
    func defaults() throws {
        #expect(try options() == Options())
        #expect(Options().leeway == .zero)
        #expect(Options().access == .owner)
        #expect(Options().logLevel == .info)
        #expect(Options().socket == nil)
    }

    @Test("a value follows its option or an equals sign, and can contain another equals sign")
    func values() throws {
        #expect(try options("--socket", "/run/s").socket == "/run/s")
        #expect(try options("--socket=/run/a=b").socket == "/run/a=b")
        #expect(try options("--state-directory", "/var/lib/c").stateDirectory == "/var/lib/c")
        #expect(try options("--access", "socket").access == .socket)
        #expect(try options("--log-level=debug").logLevel == .debug)
    }

    @Test("of a repeated option the last value counts")
    func twice() throws {
        #expect(try options("--log-level", "debug", "--log-level", "error").logLevel == .error)
    }

    @Test(
        "a leeway is a whole number with a unit, or a number of seconds",
        arguments: [
            ("0", 0), ("500us", 500), ("250ms", 250_000), ("1s", 1_000_000), ("2", 2_000_000), ("60min", 3_600_000_000),
        ] as [(String, Int64)]
    )
    func leeway(_ text: String, _ microseconds: Int64) throws {
        #expect(try options("--leeway", text).leeway == Duration(microseconds: microseconds))
    }

    @Test(
        "an invalid leeway, or one longer than an hour, is refused with examples",
        arguments: ["soon", "1.5s", "-1s", "1h", "s", " 1s", "1 s", "61min", "3601s", "99999999999999999999s", "٣s"]
    )
    func wrongLeeway(_ text: String) {
        #expect(
            refusal(of: "--leeway", text)
                == "invalid --leeway '\(text)': use 500us, 250ms, 1s or 5min, up to 60min"
        )
    }

    @Test(
        "an option without its value is refused",
        arguments: ["--socket", "--state-directory", "--leeway", "--access", "--log-level"]
    )
    func missingValue(_ flag: String) {
        #expect(refusal(of: flag) == "\(flag) needs a value; see --help")
        #expect(refusal(of: flag, "") == "\(flag) needs a value; see --help")
        #expect(refusal(of: "\(flag)=") == "\(flag) needs a value; see --help")
    }

    @Test("an unknown option is refused by its name", arguments: [("--sockets=/run/s", "--sockets"), ("-v", "-v")])
    func unknown(_ argument: String, _ name: String) {
        #expect(refusal(of: argument) == "unknown option '\(name)'; see --help")
    }

    @Test("an invalid argument is refused", arguments: ["start", "", "-"])
    func operand(_ argument: String) {
        #expect(refusal(of: argument) == "unexpected argument '\(argument)'; see --help")
    }

    @Test("an unknown value is refused with the values that exist")
    func unknownValue() {
        #expect(refusal(of: "--access", "all") == "invalid --access 'all': use owner or socket")
        #expect(
            refusal(of: "--log-level", "loud")
                == "invalid --log-level 'loud': use error, warning, notice, info or debug"
        )
    }

    @Test("help and version win over later arguments, but not over an earlier mistake")
    func helpAndVersion() throws {
        #expect(try Options.parse(["--help", "--nonsense"]) == .showHelp)
        #expect(try Options.parse(["-h"]) == .showHelp)
        #expect(try Options.parse(["--access", "socket", "--version"]) == .showVersion)
        #expect(refusal(of: "--nonsense", "--help") != nil)
    }

    @Test("the help names every option", arguments: ["--socket", "--leeway", "--access", "--log-level", "--version"])
    func help(_ flag: String) {
        #expect(Options.help.contains(flag))
    }
}
