import Foundation
import Glibc
import TestSupport
import Testing
import Varlink

@testable import IPC

@Suite("A client's connection")
final class ConnectionTests: DirectorySuite {
    @Test("a call goes to the socket at the path")
    func connected() throws {
        let listener = try ListeningSocket(path: directory.path(of: "socket"))
        var client = try Client(at: listener.path)
        let daemon = try listener.accept()
        try client.start(Get(key: "tea"))
        #expect(try daemon.message() == #"{"method":"io.countdownd.Get","parameters":{"key":"tea"}}"#)
        try client.start(List(), more: true)
        #expect(try daemon.message() == #"{"method":"io.countdownd.List","more":true}"#)
        try client.start(Pause(key: "tea", ifRevision: 7))
        #expect(
            try daemon.message() == #"{"method":"io.countdownd.Pause","parameters":{"key":"tea","ifRevision":7}}"#
        )
    }

    @Test("the programs that a client starts do not inherit its connection")
    func closedOnExecution() throws {
        let listener = try ListeningSocket(path: directory.path(of: "socket"))
        let client = try Client(at: listener.path)
        _ = try listener.accept()
        #expect(fcntl(client.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test("if nothing listens, or no socket can have the path, the error has the path")
    func unreachable() throws {
        let (none, stale) = (directory.path(of: "none"), directory.path(of: "socket"))
        _ = try ListeningSocket(path: stale)
        for (path, code) in [
            (none, ENOENT), (stale, ECONNREFUSED), (String(repeating: "x", count: 108), ENAMETOOLONG), ("", EINVAL),
            ("a\0b", EINVAL),
        ] { #expect(throws: ClientError.unreachable(path: path, errno: code)) { _ = try Client(at: path) } }
    }

    @Test("if the daemon closes the connection before it reads the call, the client is disconnected")
    func unread() throws {
        let listener = try ListeningSocket(path: directory.path(of: "socket"))
        var client = try Client(at: listener.path)
        do {
            let daemon = try listener.accept()
            try client.start(Get(key: "tea"))
            _ = consume daemon
        }
        #expect(throws: ClientError.disconnected) { try client.nextReply(to: Get.self) }
    }

    @Test("a signal does not interrupt a call")
    func interrupted() throws {
        try catchSignal(SIGUSR1)
        let caller = pthread_self()
        let status = "/proc/\(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self"))/stat"
        let server = ScriptedServer { _, session in
            // The call waits for its reply, asleep, when the signal comes.
            while !isAsleep(status) { sched_yield() }
            pthread_kill(caller, SIGUSR1)
            session.fail(CountdownError.noSuchCountdown(key: "tea"))
            return .send
        }
        var client = Client(adopting: server.clientDescriptor)
        #expect(throws: ClientError.countdown(.noSuchCountdown(key: "tea"))) { try client.call(Get(key: "tea")) }
    }
}

/// Lets a signal interrupt the system calls of this thread: without SA_RESTART, and unblocked, which it is not in the
/// threads of a Dispatch queue.
private func catchSignal(_ number: Int32) throws {
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { _ in }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, number)
    try #require(unsafe sigaction(number, &action, nil) == 0)
    try #require(unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil) == 0)
}

/// Whether a thread waits in the kernel, by its proc_pid_stat(5).
private func isAsleep(_ status: String) -> Bool {
    guard let text = try? String(contentsOfFile: status, encoding: .utf8) else { return false }
    return text.drop { $0 != ")" }.dropFirst(2).first == "S"
}
