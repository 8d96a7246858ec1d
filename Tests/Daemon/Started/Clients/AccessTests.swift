import Foundation
import Glibc
import IPC
import TestSupport
import Testing
import Varlink

@Suite("Access by other users", .enabled(if: geteuid() == 0, "only root can connect as somebody else"))
struct AccessTests {
    private static let nobody: UInt32 = 65_534

    /// A daemon with a socket that other users can reach.
    private func open(_ arguments: [String]) throws -> DaemonProcess {
        let daemon = try DaemonProcess(arguments: arguments)
        try letAll(into: daemon.directory, connectTo: daemon.socketPath)
        return daemon
    }

    @Test("a foreign user is refused every call and changes nothing")
    func foreign() throws {
        let daemon = try open([])
        let bystander = try Bystander(of: daemon)
        let connection = try RawConnection(to: daemon.socketPath, as: Self.nobody)
        let denied = #"{"error":"org.varlink.service.PermissionDenied"}"#
        for method in Interface.methods.map({ "io.countdownd.\($0.name)" }) + ["org.varlink.service.GetInfo", "a.b.C"] {
            let call = #"{"method":"\#(method)","parameters":{"key":"own"},"more":true}"#
            #expect(try connection.exchange(call) == denied, "\(method)")
        }
        try connection.send(message: #"{"method":"io.countdownd.Cancel","parameters":{"key":"own"},"oneway":true}"#)
        #expect(try connection.exchange(#"{"method":"io.countdownd.GetStatus"}"#) == denied)
        try bystander.noticesNothing()
    }

    /// The other user connects with the groups of root.
    @Test(
        "--socket-group admits its members alone, also after a restart and if the socket is made again",
        arguments: [("root", true), ("4242", false)]
    )
    func socketGroup(_ group: String, _ isMember: Bool) throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: directory.path)
        let socket = directory.path(of: "run/socket")
        func start() throws -> DaemonProcess {
            let arguments = ["--socket", socket, "--socket-group", group, "--access", "socket"]
            return try DaemonProcess(in: directory, arguments: arguments)
        }
        func checkAccess() throws {
            do {
                let caller = Caller(on: try RawConnection(to: socket, as: Self.nobody))
                #expect(try caller.call(GetStatus()).running == 0)
                #expect(isMember)
            } catch let error as SystemCallFailure {
                #expect(error.code == EACCES && !isMember)
            }
        }
        var daemon = try start()
        try checkAccess()
        try FileManager.default.removeItem(atPath: socket)
        try waitUntil("the socket is made again") { (try? RawConnection(to: socket)) != nil }
        try checkAccess()
        try daemon.kill()
        daemon = try start()
        try checkAccess()
        try daemon.terminate()
    }

    @Test("by default, no other user can connect")
    func modes() throws {
        let daemon = try DaemonProcess()
        let mode = [FileAttributeKey.posixPermissions: 0o711]
        try FileManager.default.setAttributes(mode, ofItemAtPath: daemon.directory.path)
        let error = #expect(throws: SystemCallFailure.self) {
            try RawConnection(to: daemon.socketPath, as: Self.nobody)
        }
        #expect(error?.code == EACCES)
        _ = try Caller(of: daemon).call(GetStatus())
    }
}
