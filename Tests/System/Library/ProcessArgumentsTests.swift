import System
import TestSupport
import Testing

@Suite("The arguments of a process")
struct ProcessArgumentsTests {
    @Test("the arguments are those that the kernel keeps, empty ones included")
    func arguments() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("countdownd\0--socket\0\0--help\0", to: "cmdline")
        #expect(ProcessArguments.read(from: path) == ["--socket", "", "--help"])
    }

    @Test(
        "the Swift runtime's arguments are used if the kernel's cannot be read",
        arguments: ["/nowhere", "/dev/null"]
    )
    func unreadable(_ path: String) {
        #expect(ProcessArguments.read(from: path) == Array(CommandLine.arguments.dropFirst()))
    }

    @Test("the arguments of this process are the same for the kernel and the Swift runtime")
    func own() {
        #expect(ProcessArguments.read() == Array(CommandLine.arguments.dropFirst()))
    }
}
