import Testing
import Varlink

@Suite("Transcripts")
struct TranscriptTests {
    @Test("all calls in one read are answered as written", arguments: Transcript.all)
    func inOneRead(transcript: Transcript) {
        let (replies, isViolated) = transcript.answers(to: [transcript.input])
        #expect(replies == transcript.replies)
        #expect(isViolated == transcript.isViolated)
    }

    @Test("one call per read is answered the same", arguments: Transcript.all)
    func inOneReadEach(transcript: Transcript) {
        let (replies, isViolated) = transcript.answers(to: transcript.calls.map { Array($0.utf8) + [0] })
        #expect(replies == transcript.replies)
        #expect(isViolated == transcript.isViolated)
    }

    @Test("one byte per read is answered the same", arguments: Transcript.all)
    func inBytes(transcript: Transcript) {
        let (replies, isViolated) = transcript.answers(to: transcript.input.map { [$0] })
        #expect(replies == transcript.replies)
        #expect(isViolated == transcript.isViolated)
    }

    @Test("two reads, split at any byte, are answered the same", arguments: Transcript.all)
    func cutAtEveryByte(transcript: Transcript) {
        let input = transcript.input
        for cut in 0...input.count {
            let (replies, isViolated) = transcript.answers(to: [Array(input[..<cut]), Array(input[cut...])])
            #expect(replies == transcript.replies, "cut at \(cut)")
            #expect(isViolated == transcript.isViolated, "cut at \(cut)")
        }
    }

    @Test("replies sent one byte at a time arrive the same", arguments: Transcript.all)
    func leavesInBytes(transcript: Transcript) {
        var session = EchoService.session()
        session.receive(transcript.input)
        _ = EchoService.serve(&session)
        var output: [UInt8] = []
        while session.unsent > 0 {
            session.withUnsent { bytes in
                output.append(bytes[0])
                return 1
            }
        }
        #expect(messages(output) == transcript.replies)
    }
}
