import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Completions of countdownctl")
final class CompletionCommandsTests: CommandSuite {
    /// The completions of bash for the last word of each line, requested as its script does.
    private func offers(_ lines: [[String]]) throws -> [[String]] {
        let script = """
            eval "$(countdownctl --generate-completion-script bash)"
            for line; do
              eval "set -- $line"
              COMPREPLY=() COMP_WORDS=(countdownctl "$@") COMP_CWORD=$# COMP_LINE="countdownctl $*" COMP_POINT=${#COMP_LINE}
              __countdownctl_complete countdownctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
              printf '%s\\n' "${COMPREPLY[@]}"
              echo .
            done
            """
        let countdownctl = try BuiltProduct.path(of: "countdownctl")
        let run = try RunningCommand(
            ["-c", "countdownctl() { '\(countdownctl)' \"$@\"; }; \(script)", "bash"]
                + lines.map { $0.joined(separator: " ") },
            executable: "/bin/bash",
            environment: ["COUNTDOWND_SOCKET": typist.socket, "HOME": daemon.directory.path, "LC_ALL": "C.UTF-8"]
        ).finish()
        return run.standardOutput.components(separatedBy: ".\n").dropLast().map {
            $0.split(separator: "\n").map(String.init).sorted()
        }
    }

    @Test("for a key, bash offers the running and paused ones with this prefix")
    func offersKeys() throws {
        let verbs = ["cancel", "show", "attach", "wait", "adjust", "pause", "is-running", "start", "run", "status"]
        try prepare("start tea 1h", "start toast 1h", "start coffee 1h", "start [t 1h", "pause toast")
        let ofVerbs = try offers(verbs.map { [$0, "t"] })
        for (verb, keys) in zip(verbs, ofVerbs) { #expect(keys == ["tea", "toast"], "\(verb)") }
        #expect(ofVerbs.count == verbs.count)
        #expect(try offers([["show", "te"], ["show", "x"]]) == [["tea"], []])
    }

    @Test("a key with characters that a shell expands is quoted, and nothing is run for it")
    func quotesKeys() throws {
        let mark = daemon.directory.path(of: "mark")
        for key in ["t$(touch${IFS}\(mark))", "t`touch`", "t*", "t a", "t;x", "t\u{8336}"] {
            _ = try typist.type(words: ["start", key, "1h"])
        }
        #expect(
            try offers([["cancel", "t"]]) == [
                ["t\\$\\(touch\\$\\{IFS\\}\(mark)\\)", "t\\*", "t\\ a", "t\\;x", "t\\`touch\\`", "t\u{8336}"].sorted()
            ]
        )
        #expect(unsafe access(mark, F_OK) != 0)
    }

    @Test("for the name of a change, bash offers those that will be undone")
    func offersChanges() throws {
        let folder = ".local/state/countdown-undo"
        try daemon.directory.makeDirectory(folder, mode: 0o700)
        for (number, name) in ["dnd", "firewall"].enumerated() {
            let file = """
                {"version":1,"stage":"changed","name":"\(name)","words":["true"],"program":"/bin/true","directory":"/","path":"/bin","machine":"",
                "boot":"","deadlineUSec":1,"timeoutUSec":1,"metadata":{}}
                """
            _ = try daemon.directory.write(file, to: "\(folder)/0000177235560000000\(number)-0123456789abcdef")
        }
        #expect(try offers([["keep", "d"], ["undo", "f"], ["undo", "x"]]) == [["dnd"], ["firewall"], []])
    }

    @Test("without a daemon nothing is offered or printed")
    func offersNothing() throws {
        try daemon.kill()
        #expect(try offers([["cancel", "t"]]) == [[]])
    }

    @Test("with --host, the keys of this machine are not offered", arguments: ["--host there", "--host=x"])
    func offersNothingOfHere(_ host: String) throws {
        _ = try typist.type("start tea 1h")
        #expect(try offers([host.components(separatedBy: " ") + ["cancel", "t"]]) == [[]])
    }
}
