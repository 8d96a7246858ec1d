import Glibc
import System
import TestSupport
import Testing
import Varlink

@testable import IPC

@Suite("A client")
struct ClientTests {
    private static let tea = Countdown(
        key: "tea",
        state: .running,
        clock: .elapsed,
        durationUSec: 300_000_000,
        remainingUSec: 299_000_000,
        startedUSec: 1_800_000_000_000_000,
        deadlineUSec: 1_800_000_300_000_000,
        label: "grün",
        revision: 7
    )

    @Test("a reply is understood if it arrives in pieces of any size", arguments: [1, 2, 3, 7, 64, .max])
    func pieces(size: Int) throws {
        let server = ScriptedServer(piece: size) { _, session in
            session.reply(Get.Reply(countdown: Self.tea))
            return .send
        }
        var client = Client(adopting: server.clientDescriptor)
        #expect(try client.call(Get(key: "tea")).countdown == Self.tea)
        #expect(try client.call(Get(key: "tea")).countdown == Self.tea)
    }

    static let countdownErrors: [CountdownError] = [
        .noSuchCountdown(key: "k"), .alreadyRunning(tea, retryAfter: nil),
        .alreadyRunning(tea, retryAfter: .microseconds(5)), .revisionMismatch(tea), .wrongState(tea),
        .historyTrimmed(oldestRevision: 12), .limitReached(limit: "countdowns", maximum: 4_000_000),
        .storageFailed(reason: "disk full"), .unreachable(reason: "no answer within 2 s"),
    ]

    static let serviceErrors: [ServiceError] = [
        .interfaceNotFound("io.countdownd"), .methodNotFound("io.countdownd.Get"),
        .methodNotImplemented("io.countdownd.Get"), .invalidParameter("key"), .permissionDenied, .expectedMore,
    ]

    @Test("every error of the interface and of the protocol is thrown")
    func errors() {
        var errors: [(any ReplyError & Sendable, ClientError)] = Self.countdownErrors.map { ($0, .countdown($0)) }
        errors += Self.serviceErrors.map { ($0, .service($0)) }
        for (error, expected) in errors {
            let server = ScriptedServer { _, session in
                session.fail(error)
                return .send
            }
            var client = Client(adopting: server.clientDescriptor)
            #expect(client.failure(of: Cancel(key: "k")) == expected)
            #expect(client.failure(of: Cancel(key: "k")) == expected)
        }
    }

    /// Replies to `Get`, and their errors.
    static let badReplies: [(String, ClientError)] = [
        (#"{"error":"io.countdownd.Later","parameters":{"a":1}}"#, .unknownError(name: "io.countdownd.Later")),
        (#"{"parameters":{}}"#, .invalidReply(method: "io.countdownd.Get", member: "countdown")),
        (#"{}"#, .invalidReply(method: "io.countdownd.Get", member: "countdown")),
        (#"{"parameters":{"countdown":{"key":"k"}}}"#, .invalidReply(method: "io.countdownd.Get", member: "state")),
        (#"{"error":"io.countdownd.NoSuchCountdown"}"#, .invalidReply(method: "io.countdownd.Get", member: "key")),
        ("garbage", .protocolViolation(.invalidJSON(JSONError(offset: 0, reason: .unexpectedByte(0x67))))),
        ("[]", .protocolViolation(.invalidJSON(JSONError(offset: 0, reason: .notAnObject)))),
        (#"{"continues":1}"#, .protocolViolation(.invalidField("continues"))),
        (#"{"continues":true}"#, .protocolViolation(.unexpectedContinues)),
    ]

    @Test("the error for a reply names what is unknown, missing or broken", arguments: badReplies)
    func badReply(text: String, error: ClientError) {
        let server = ScriptedServer { _, _ in .bytes(wire(text)) }
        var client = Client(adopting: server.clientDescriptor)
        #expect(client.failure(of: Get(key: "k")) == error)
    }

    @Test("a reply that is too long is refused")
    func endless() {
        let server = ScriptedServer { _, _ in .hangUp(saying: [UInt8](repeating: UInt8(ascii: " "), count: 17 << 20)) }
        var client = Client(adopting: server.clientDescriptor)
        #expect(client.failure(of: Get(key: "k")) == .protocolViolation(.messageTooLong(limit: 16 << 20)))
    }

    @Test("if the daemon closes the connection within a reply, the client is disconnected", arguments: [0, 1, 40])
    func hangUp(after count: Int) {
        let server = ScriptedServer { _, session in
            session.reply(Get.Reply(countdown: Self.tea))
            return .hangUp(saying: Array(session.takeUnsent().prefix(count)))
        }
        var client = Client(adopting: server.clientDescriptor)
        #expect(client.failure(of: Get(key: "k")) == .disconnected)
        // The socket is broken now: without MSG_NOSIGNAL the next call would end the program with SIGPIPE.
        #expect(client.failure(of: Get(key: "k")) == .disconnected)
    }

    @Test("a reply before the daemon closed the connection is received though the call could not be sent")
    func lastWords() {
        let server = ScriptedServer { _, _ in .send }
        server.hangUp(saying: wire(#"{"error":"org.varlink.service.PermissionDenied"}"#))
        var client = Client(adopting: server.clientDescriptor)
        #expect(client.failure(of: Get(key: "k")) == .service(.permissionDenied))
    }

    @Test("replies of a stream arrive one by one, and the last one says so")
    func stream() throws {
        let server = ScriptedServer(piece: 5) { _, session in
            session.reply(List.Reply(countdowns: [Self.tea]), continues: true)
            session.reply(List.Reply(countdowns: []), continues: true)
            session.reply(List.Reply(countdowns: [Self.tea, Self.tea]))
            return .send
        }
        var client = Client(adopting: server.clientDescriptor)
        try client.start(List(), more: true)
        var sizes: [Int] = []
        while let (reply, continues) = try client.nextReply(to: List.self) {
            sizes.append(reply.countdowns.count)
            if !continues { break }
        }
        #expect(sizes == [1, 0, 2])
        #expect(server.called == ["List"])
    }

    @Test("an event of an unknown type is ignored")
    func unknownEvent() throws {
        let events = #"[{"type":"later","key":7},{"type":"synced","revision":3,"x":1}]"#
        let server = ScriptedServer { _, _ in .bytes(wire(#"{"parameters":{"events":\#(events)},"continues":true}"#)) }
        var client = Client(adopting: server.clientDescriptor)
        try client.start(Watch(), more: true)
        let (reply, continues) = try #require(try client.nextReply(to: Watch.self))
        #expect(reply.events == [Event(type: .synced, revision: 3)])
        #expect(continues)
    }

    @Test(
        "a daemon that accepts nothing, or does not answer in time, is a timeout; a deadline of the call goes before it"
    )
    func timesOut() throws {
        let directory = try TemporaryDirectory()
        let daemon = try ListeningSocket(path: directory.path(of: "socket"))
        var client = try Client(at: daemon.path, timeout: .milliseconds(1))
        #expect(client.failure(of: Get(key: "tea")) == .failed(errno: ETIMEDOUT))
        var long = try Client(at: daemon.path, timeout: .milliseconds(1))
        #expect(
            long.failure(of: Start(key: "tea", label: String(repeating: "x", count: 4 << 20)))
                == .failed(errno: ETIMEDOUT)
        )
        var waiting = try Client(at: daemon.path, timeout: .microseconds(1))
        try waiting.start(Get(key: "tea"))
        #expect(try waiting.nextReply(to: Get.self, until: .after(microseconds: 50_000)) == nil)
    }

    @Test("after a deadline has passed the reply can still be received")
    func deadline() throws {
        let server = ScriptedServer { call, session in
            guard call.name == "Watch" else { return .send }
            session.reply(Watch.Reply(events: [Event(type: .synced, revision: 1)]), continues: true)
            return .send
        }
        var client = Client(adopting: server.clientDescriptor)
        try client.start(Watch(), more: true)
        _ = try client.nextReply(to: Watch.self)
        #expect(try client.nextReply(to: Watch.self, until: .passed) == nil)
        #expect(try client.nextReply(to: Watch.self, until: .after(microseconds: 1)) == nil)
        server.send(wire(#"{"parameters":{"events":[]},"continues":true}"#))
        let later = try client.nextReply(to: Watch.self, until: .after(microseconds: 60_000_000))
        #expect(later?.reply.events == [])
    }

    @Test("late replies to a call that was given up are not taken for replies to the next call")
    func givenUp() throws {
        let server = ScriptedServer { call, session in
            if call.name == "Get" {
                session.reply(Get.Reply(countdown: Self.tea))
                return .send
            }
            // Kept back: it is sent before the next reply.
            session.fail(CountdownError.noSuchCountdown(key: "egg"))
            return .bytes([])
        }
        var client = Client(adopting: server.clientDescriptor)
        try client.start(Wait(key: "egg"))
        #expect(try client.nextReply(to: Wait.self, until: .passed) == nil)
        #expect(try client.call(Get(key: "tea")).countdown == Self.tea)
    }

    @Test("with a deadline that has passed, all replies that were received are returned")
    func drained() throws {
        let server = ScriptedServer { _, session in
            for _ in 0..<3 { session.reply(Watch.Reply(events: []), continues: true) }
            return .send
        }
        var client = Client(adopting: server.clientDescriptor)
        try client.start(Watch(), more: true)
        var request = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&request, 1, 60_000) == 1)
        var count = 0
        while try client.nextReply(to: Watch.self, until: .passed) != nil { count += 1 }
        #expect(count == 3)
    }

    @Test("a client that is destroyed closes its connection")
    func closing() {
        let server = ScriptedServer { _, _ in .send }
        do { _ = Client(adopting: server.clientDescriptor) }
        server.waitForEnd()
    }
}

extension Client {
    /// The error that a call throws, or nil.
    fileprivate mutating func failure<M: Method>(of method: M) -> ClientError? {
        do {
            _ = try call(method)
            return nil
        } catch {
            return error
        }
    }
}
