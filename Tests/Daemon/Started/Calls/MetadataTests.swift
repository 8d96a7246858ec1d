import IPC
import TestSupport
import Testing
import Varlink

@Suite("Metadata")
struct MetadataTests {
    @Test("names that only Unicode normalization makes equal keep their values, over the wire and in the store")
    func names() throws {
        let directory = try TemporaryDirectory()
        let metadata: TextMap<String> = ["\u{E9}": "composed", "e\u{301}": "decomposed"]
        let pairs = #"{"e\#u{301}":"decomposed","\#u{E9}":"composed"}"#
        do {
            let daemon = try DaemonProcess(in: directory)
            let caller = try Caller(of: daemon)
            #expect(try caller.call(Start(key: "tea", metadata: metadata)).countdown.metadata == metadata)
            _ = try caller.call(Pause(key: "tea"))
            try daemon.terminate()
        }
        let daemon = try DaemonProcess(in: directory)
        let reply = try daemon.connect().exchange(#"{"method":"io.countdownd.Get","parameters":{"key":"tea"}}"#)
        #expect(reply.utf8.firstRange(of: pairs.utf8) != nil, "\(reply)")
        #expect(try Caller(of: daemon).call(List()).countdowns.first?.metadata == metadata)
    }
}
