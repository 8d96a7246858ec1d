import Foundation
import IPC
import TestSupport
import Testing
import Varlink

@Suite("The document on the protocol")
struct ProtocolDocumentTests {
    private static let document = Result {
        let path = BuiltProduct.packageDirectory.appendingPathComponent("docs/protocol.md")
        return try String(contentsOf: path, encoding: .utf8)
    }

    private static let transcripts = Result {
        try document.get().matches(of: #/```transcript\n((?s).*?)```/#).map { try DocumentTranscript($0.1) }
    }

    /// A transcript that is replayed: its connections by name, and the values of its placeholders.
    private struct Replay {
        var daemon: DaemonProcess
        var connections: [String: RawConnection] = [:]
        var values: [String: String] = [:]

        init() throws { daemon = try DaemonProcess() }

        mutating func connection(_ name: String) throws -> RawConnection {
            if let known = connections[name] { return known }
            let new = try daemon.connect()
            connections[name] = new
            return new
        }

        mutating func perform(_ step: DocumentTranscript.Step) throws {
            switch step {
            case .call(let name, let message):
                try connection(name).send(message: message.filled(with: values))
            case .reply(let name, let message):
                let told = try connection(name).message()
                #expect(message.matches(told, values: &values), "\(name) < \(message.text)\nbut was told\n\(told)")
            case .leaving(let name):
                connections[name] = nil
            case .closing(let name):
                #expect(try connection(name).nextMessage() == nil)
            case .restart:
                connections = [:]
                try daemon.kill()
                daemon = try DaemonProcess(in: daemon.directory)
            }
        }
    }

    @Test("the daemon answers each transcript as printed", arguments: try transcripts.get())
    func replays(transcript: DocumentTranscript) throws {
        var replay = try Replay()
        for step in transcript.steps { try replay.perform(step) }
    }

    @Test("every method occurs, and every error except StorageFailed and Unreachable")
    func isWhole() throws {
        let text = try Self.transcripts.get().flatMap(\.steps).map(\.text).joined(separator: "\n")
        for method in Interface.methods {
            #expect(text.contains(#""method":"io.countdownd.\#(method.name)""#), "\(method.name)")
        }
        for error in CountdownError.WireName.allCases where ![.storageFailed, .unreachable].contains(error) {
            #expect(text.contains(#""error":"\#(error.rawValue)""#), "\(error)")
        }
    }
}
