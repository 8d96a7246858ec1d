import IPC
import Varlink

@testable import countdownd

/// What a client sends, however it arrives: the service answers the same; and whatever a service sends, a client takes
/// it or calls it a violation.
public enum SessionHarness: Harness {
    private static let translation = Translation(policy: .init())

    public static func check(_ input: inout Input) {
        let isClient = input.next() & 1 == 1
        let stream = input.rest()
        if isClient {
            follow(stream)
        } else {
            let whole = serve([stream.bytes])
            let cut = serve(stream.pieces)
            expect(whole == cut, "the answers are the same, however the bytes arrive")
        }
    }

    private static func serve(_ pieces: [[UInt8]]) -> [UInt8] {
        var session = ServerSession(service: Translation.service, messageLimit: 4_096)
        var answers: [UInt8] = []
        for piece in pieces {
            session.receive(piece)
            while let step = session.next() {
                if case .call(let call) = step { answer(call, in: &session) }
            }
            session.withUnsent { bytes in
                for index in bytes.indices { answers.append(bytes[index]) }
                return bytes.count
            }
        }
        return answers
    }

    private static func answer(_ call: Call, in session: inout ServerSession) {
        do {
            _ = try translation.asked(by: call)
            if call.more { session.reply(continues: true) { $0.member("number", Int64(1)) } }
            session.reply()
        } catch let error as InvalidParameter {
            session.fail(error)
        } catch let error as ServiceError {
            session.fail(error)
        } catch {
            session.reply()
        }
    }

    private static func follow(_ stream: Input.Stream) {
        var session = ClientSession(messageLimit: 4_096)
        for number in 0..<8 { session.call("org.example.Method", more: number.isMultiple(of: 2)) }
        for piece in stream.pieces {
            session.receive(piece)
            do {
                while let reply = try session.next() {
                    expect((1...8).contains(reply.call), "a reply is one to a call that was made")
                }
            } catch {
                return
            }
        }
    }
}
