import CountdownCore
import System
import Testing
import Text

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

    @Test("the socket's mode is octal, its group a name or a number, and a group alone lets its members connect")
    func socketRights() throws {
        #expect(try options().socketRights == Listener.Access(mode: 0o600, group: nil))
        let both = try options("--socket-mode", "0666", "--socket-group", "root", "--access", "socket")
        #expect(both.socketRights == Listener.Access(mode: 0o666, group: 0))
        let group = try options("--socket-group", "4242", "--access", "socket")
        #expect(group.socketRights == Listener.Access(mode: 0o660, group: 4242))
        #expect(try options("--socket-mode=700").socketRights.mode == 0o700)
    }

    @Test("a mode that is not octal or locks the owner out, and an unknown group, are refused by name")
    func wrongRights() {
        for mode in ["rw", "0888", "1777", "0060", "-1", "0x1ff"] {
            #expect(
                refusal(of: "--socket-mode", mode)
                    == "invalid --socket-mode '\(mode)': use an octal mode that lets the owner read and write, such as 0660"
            )
        }
        #expect(
            refusal(of: "--socket-group", "no such group", "--access", "socket")
                == "invalid --socket-group 'no such group': use the name or number of a group"
        )
    }

    @Test("a mode that admits other users is refused if the daemon would refuse them", arguments: ["0660", "0606"])
    func uselessMode(_ mode: String) throws {
        let sentence = "the mode of the socket admits other users: use --access socket, too"
        #expect(refusal(of: "--socket-mode", mode) == sentence)
        #expect(refusal(of: "--socket-group", "root") == sentence)
        #expect(try options("--access", "socket", "--socket-mode", mode).access == .socket)
    }

    @Test("of a repeated option the last value counts")
    func twice() throws {
        #expect(try options("--log-level", "debug", "--log-level", "error").logLevel == .error)
    }

    @Test(
        "a leeway is a duration as people type it",
        arguments: [
            ("0", 0), ("500us", 500), ("250ms", 250_000), ("1s", 1_000_000), ("2", 2_000_000), ("1.5s", 1_500_000),
            ("1h", 3_600_000_000),
        ] as [(String, Int64)]
    )
    func leeway(_ text: String, _ microseconds: Int64) throws {
        #expect(try options("--leeway", text).leeway == Duration(microseconds: microseconds))
    }

    @Test(
        "an invalid leeway, or one longer than an hour, is refused with an example",
        arguments: ["soon", "-1s", "s", "61min", "3601s", "99999999999999999999s", "٣s"]
    )
    func wrongLeeway(_ text: String) {
        #expect(
            refusal(of: "--leeway", text)
                == "invalid --leeway '\(text)': use a duration of at most 1h, such as 250ms"
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
}
