import Foundation
import TestSupport
import Testing

/// The tool with which `make bench` measures: its figures are useless if it does not do its work.
@Suite("The load generator")
struct LoadTests {
    private let daemon: DaemonProcess

    init() throws { daemon = try DaemonProcess() }

    private func load(_ arguments: String) throws -> CommandRun {
        let common = ["--server", "countdownd", "--socket", daemon.socketPath, "--pid", "\(daemon.process.identifier)"]
        let executable = try BuiltProduct.path(of: "countdown-load")
        return try RunningCommand(arguments.split(separator: " ").map(String.init) + common, executable: executable)
            .finish()
    }

    private func figures(_ arguments: String) throws -> [String: Double] {
        let run = try load(arguments)
        #expect(run.exitCode == 0, "\(run.standardError)")
        return try JSONDecoder().decode([String: Double].self, from: Data(run.standardOutput.utf8))
    }

    @Test("it starts and finds the given number of countdowns", arguments: [1, 3], [1, 8])
    func calls(connections: Int, depth: Int) throws {
        let shape = "--connections \(connections) --depth \(depth) --count 100"
        let started = try figures("calls --call start --first 5 \(shape)")
        #expect(started["calls"] == 100)
        #expect(started["answer_max"] ?? 0 > 0)
        #expect(try figures("calls --call get --first 5 --keys 100 \(shape)")["calls"] == 100)
    }

    @Test("a call that is refused is not measured")
    func refusals() throws {
        #expect(try figures("calls --call start --count 10")["calls"] == 10)
        for arguments in ["--call start --first 9 --count 2", "--call get --first 10 --keys 1 --count 1"] {
            let run = try load("calls \(arguments)")
            #expect(run.exitCode == 1)
            #expect(run.standardError.hasPrefix("countdown-load: refused: {"))
            #expect(run.standardOutput.isEmpty)
        }
    }

    @Test("every watcher gets every change")
    func fanout() throws {
        #expect(try figures("fanout --watchers 5 --depth 4 --count 100")["deliveries"] == 500)
    }

    @Test("an unknown option is named, with the known ones")
    func options() throws {
        #expect(try load("calls --connection 5").standardError.hasPrefix("countdown-load: there is no --connection; "))
    }
}
