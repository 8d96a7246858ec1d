import Glibc
import TestSupport
import Testing

@Suite("Raw connections and notification sockets")
struct SocketTests {
    private let directory: TemporaryDirectory
    private let listener: ListeningSocket

    init() throws {
        directory = try TemporaryDirectory()
        listener = try ListeningSocket(path: directory.path(of: "socket"))
    }

    @Test("messages are separated at their NULs, however the bytes were split")
    func messages() throws {
        let connection = try RawConnection(to: listener.path)
        let peer = try listener.accept()
        try peer.send(Array("one\0tw".utf8))
        #expect(try connection.message() == "one")
        try peer.send(Array("o\0\0".utf8))
        #expect(try connection.message() == "two")
        #expect(try connection.message() == "")
    }

    @Test("a silent peer is an error at the deadline")
    func silence() throws {
        let connection = try RawConnection(to: listener.path)
        #expect(throws: TimedOut.self) { try connection.message(until: Deadline(after: .zero)) }
    }

    @Test("a peer that does not read is an error at the deadline")
    func fullPeer() throws {
        let connection = try RawConnection(to: listener.path)
        let flood = [UInt8](repeating: 1, count: 64 << 20)
        #expect(throws: TimedOut.self) { try connection.send(flood, until: Deadline(after: .zero)) }
    }

    @Test("a close between messages is the end, a close within a message is an error")
    func closing() throws {
        let whole = try RawConnection(to: listener.path)
        try listener.accept().send(message: "last")
        #expect(try whole.nextMessage() == "last")
        #expect(try whole.nextMessage() == nil)

        let cut = try RawConnection(to: listener.path)
        try listener.accept().send(Array("la".utf8))
        #expect(throws: RawConnection.Cut.self) { try cut.nextMessage() }
    }

    @Test("notifications are returned in order, and skipped ones are kept")
    func notifications() throws {
        let socket = try NotificationSocket(path: directory.path(of: "notify"))
        let child = try RunningCommand(["1000"], executable: "/bin/sleep").process
        try socket.pretend("READY=1\nSTATUS=idle")
        try socket.pretend("STATUS=busy")
        try socket.pretend("STOPPING=1")
        #expect(try socket.await("READY=1", from: child) == "READY=1")
        #expect(try socket.await("STATUS=", from: child) == "STATUS=idle")
        #expect(try socket.await("STOPPING=", from: child) == "STOPPING=1")
        #expect(socket.received == ["READY=1", "STATUS=idle", "STATUS=busy", "STOPPING=1"])
    }

    @Test("a process that ends without its notification fails the wait at once")
    func endedWithout() throws {
        let socket = try NotificationSocket(path: directory.path(of: "notify"))
        let child = try RunningCommand(["-c", "exit 3"], executable: "/bin/sh").process
        #expect(throws: NotificationSocket.Ended.self) { try socket.await("READY=1", from: child) }
    }
}
