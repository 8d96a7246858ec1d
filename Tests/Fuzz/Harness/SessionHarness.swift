import CountdownCore
import IPC
import Varlink

@testable import countdownd

/// A service answers a stream the same, however it is split, and each call as on a connection of its own. A client accepts
/// any stream from a service, or reports a violation.
public enum SessionHarness: Harness {
    private static let translation = Translation(limits: .init())

    /// Checks one input.
    public static func check(_ input: inout Input) {
        let isClient = input.next() & 1 == 1
        let stream = input.rest()
        if isClient {
            follow(stream)
        } else {
            let whole = serve([stream.bytes])
            let cut = serve(stream.pieces)
            expect(whole == cut, "the answers do not depend on how the bytes are split")
            expect(whole == serveApart(stream.bytes), "the answer to a call does not depend on earlier calls")
        }
    }

    /// The answers to messages on connections of their own, up to the first violation.
    private static func serveApart(_ stream: [UInt8]) -> [UInt8] {
        var answers: [UInt8] = []
        for message in stream.split(separator: 0, omittingEmptySubsequences: false).dropLast() {
            let (answer, isViolated) = serveOne(Array(message) + [0])
            if !isViolated {
                let isCall = !serveOne(withWholePairs(Array(message)) + [0]).isViolated
                expect(isCall, "what is answered is a call, but for surrogates in its parameters")
            }
            answers += answer
            guard !isViolated else { break }
        }
        return answers
    }

    /// The message with escapes of ASCII in the place of escapes of surrogates.
    private static func withWholePairs(_ message: [UInt8]) -> [UInt8] {
        var whole = message
        for place in message.indices.dropFirst(2).dropLast()
        where message[place - 2] == UInt8(ascii: "\\") && message[place - 1] == UInt8(ascii: "u")
            && message[place] | 0x20 == UInt8(ascii: "d") && message[place + 1] > UInt8(ascii: "7")
        { (whole[place], whole[place + 1]) = (UInt8(ascii: "0"), UInt8(ascii: "0")) }
        return whole
    }

    private static func serveOne(_ message: [UInt8]) -> (answer: [UInt8], isViolated: Bool) {
        var session = ServerSession(service: Translation.service, messageLimit: 4_096)
        session.receive(message)
        var isViolated = false
        while let step = session.next() {
            switch step {
            case .call(let call): answer(call, in: &session)
            case .answered: break
            case .violation: isViolated = true
            }
        }
        return (takeUnsent(of: &session), isViolated)
    }

    private static func takeUnsent(of session: inout ServerSession) -> [UInt8] {
        var answers: [UInt8] = []
        session.withUnsent { bytes in
            for index in bytes.indices { answers.append(bytes[index]) }
            return bytes.count
        }
        return answers
    }

    private static func serve(_ pieces: [[UInt8]]) -> [UInt8] {
        var session = ServerSession(service: Translation.service, messageLimit: 4_096)
        var answers: [UInt8] = []
        for piece in pieces {
            session.receive(piece)
            while let step = session.next() {
                if case .call(let call) = step { answer(call, in: &session) }
            }
            answers += takeUnsent(of: &session)
        }
        return answers
    }

    /// Answers a call with its decoded parameters.
    private static func answer(_ call: Call, in session: inout ServerSession) {
        do {
            let request = try session.readParameters { try translation.request(in: call, reading: &$0) }
            if call.more { session.reply(continues: true) { $0.member("number", Int64(1)) } }
            switch request {
            case .countdown(let key): session.reply { write(key, into: &$0) }
            case .change(.start(let start)): session.reply { write(start, into: &$0) }
            default: session.reply()
            }
        } catch let error as InvalidParameter {
            session.fail(error)
        } catch let error as ServiceError {
            session.fail(error)
        } catch {
            session.reply()
        }
    }

    private static func write(_ key: Key, into writer: inout JSONWriter) { writer.member("key", key.text) }

    private static func write(_ start: Request.Start, into writer: inout JSONWriter) {
        write(start.key, into: &writer)
        writer.member("rest", "\(start.end as Any) \(start.ifLive) \(start.label as Any) \(start.forget)")
        writer.member("metadata", start.metadata ?? [:])
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
