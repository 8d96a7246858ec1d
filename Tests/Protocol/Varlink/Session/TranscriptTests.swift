import Testing
import Varlink

@Suite("Transcripts")
struct TranscriptTests {
    @Test(
        "calls are answered as written in one read, in a read each, byte by byte, and cut at any byte",
        arguments: Transcript.all
    )
    func reads(transcript: Transcript) {
        let input = transcript.input
        var readings = [[input], transcript.calls.map { Array($0.utf8) + [0] }, input.map { [$0] }]
        readings += (0...input.count).map { [Array(input[..<$0]), Array(input[$0...])] }
        for reading in readings {
            let (replies, isViolated) = transcript.answers(to: reading)
            #expect(replies == transcript.replies, "\(reading.map(\.count))")
            #expect(isViolated == transcript.isViolated, "\(reading.map(\.count))")
        }
    }

    @Test("replies sent one byte at a time arrive the same", arguments: Transcript.all)
    func leavesInBytes(transcript: Transcript) {
        var session = EchoService.session()
        session.receive(transcript.input)
        _ = EchoService.serve(&session)
        var output: [UInt8] = []
        while session.unsent > 0 { output += session.takeUnsent(upTo: 1) }
        #expect(messages(output) == transcript.replies)
    }
}
