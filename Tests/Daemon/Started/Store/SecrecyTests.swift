import Foundation
import IPC
import TestSupport
import Testing
import Varlink

@Suite("Private texts")
struct SecrecyTests {
    private let secrets = ["+8613800138000", "a private label", "secret-name", "secret-value"]

    /// Lets a daemon do everything that it logs, with private keys and texts.
    private func live(_ daemon: DaemonProcess) throws {
        let caller = try Caller(of: daemon)
        let start = Start(key: secrets[0], label: secrets[1], metadata: [secrets[2]: secrets[3]])
        _ = try caller.call(start)
        #expect(throws: CountdownError.self) { try caller.call(Resume(key: secrets[0])) }
        #expect(throws: CountdownError.self) { try caller.call(Start(key: secrets[0], ifRunning: .fail)) }
        let broken = try daemon.connect()
        try broken.send(message: #"{"method":"io.countdownd.Get","parameters":{"key":"\#(secrets[0])"},"odd":1}"#)
        #expect(try broken.nextMessage() == nil)
        let endless = try daemon.connect()
        try endless.send(Array(String(repeating: secrets[0], count: 20_000).utf8))
        #expect(try endless.nextMessage() == nil)
        _ = try caller.call(Finish(key: secrets[0]))
        _ = try caller.call(start)
    }

    @Test("no key, label or metadata is logged, over a crash and a restart too")
    func log() throws {
        let directory = try TemporaryDirectory()
        for ending in [DaemonProcess.kill, DaemonProcess.terminate] {
            let daemon = try DaemonProcess(in: directory)
            try live(daemon)
            _ = try ending(daemon)()
            #expect(daemon.standardError.contains("a client whose message has more than 262144 bytes"))
            for secret in secrets { #expect(!daemon.standardError.contains(secret)) }
        }
    }

    @Test("the state directory is for its user alone, and so is each file in it")
    func modes() throws {
        let daemon = try DaemonProcess()
        try live(daemon)
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(daemon.stateDirectory) == 0o700)
        #expect(try mode("\(daemon.stateDirectory)/log") == 0o700)
        let files = try FileManager.default.subpathsOfDirectory(atPath: daemon.stateDirectory)
        #expect(files.contains("log/0000000001.log"))
        for file in files where file != "log" {
            #expect(try mode("\(daemon.stateDirectory)/\(file)") == 0o600, "\(file)")
        }
    }
}
