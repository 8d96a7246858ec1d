import System
import Testing

@testable import IPC

@Suite("The socket's address")
struct AddressTests {
    private static let own = FileStatus(isDirectory: true, owner: 1000, mode: 0o700)

    /// A machine with these environment variables and directories.
    private func surroundings(_ environment: [String: String], _ files: [String: FileStatus]) -> Address.Surroundings {
        Address.Surroundings(
            environment: { environment[$0] },
            uid: 1000,
            status: { path throws(SystemFailure) in
                guard let status = files[path] else { throw SystemFailure("stat", code: 2) }
                return status
            }
        )
    }

    private func server(
        option: String? = nil,
        _ environment: [String: String] = [:],
        _ files: [String: FileStatus] = [:]
    ) throws(AddressError) -> Address {
        try Address.forServer(option: option, in: surroundings(environment, files))
    }

    private func client(
        _ environment: [String: String] = [:],
        _ files: [String: FileStatus] = [:]
    ) throws(AddressError) -> Address {
        try Address.forClient(in: surroundings(environment, files))
    }

    @Test("the option names the socket of the server, whatever the environment says, and is not empty")
    func option() throws {
        let address = try server(option: "/srv/c.sock", ["XDG_RUNTIME_DIR": "/run/x", "COUNTDOWND_SOCKET": "/other"])
        #expect(address.path == "/srv/c.sock")
        let files = ["/run/user/1000": Self.own]
        for empty in ["", "unix:", "unix:;mode=0600"] {
            #expect(throws: AddressError.emptyPath) { try server(option: empty, [:], files) }
        }
    }

    @Test(
        "the option and the variable may be addresses as varlinkctl writes them",
        arguments: [
            ("unix:/srv/c.sock", "/srv/c.sock"), ("unix:/srv/c.sock;mode=0600", "/srv/c.sock"),
            ("unix:c.sock", "c.sock"), ("unix:/a:b", "/a:b"), ("/srv/unix:c;d", "/srv/unix:c;d"), ("c.sock", "c.sock"),
        ]
    )
    func uri(text: String, path: String) throws {
        #expect(try client(["COUNTDOWND_SOCKET": text]).path == path)
        #expect(try server(option: text).path == path)
    }

    @Test("$COUNTDOWND_SOCKET names the socket of the client, but not of the server")
    func variable() throws {
        let environment = ["COUNTDOWND_SOCKET": "/srv/c.sock", "XDG_RUNTIME_DIR": "/run/x"]
        #expect(try client(environment).path == "/srv/c.sock")
        #expect(try server(environment, ["/run/x": Self.own]).path == "/run/x/countdownd/io.countdownd")
    }

    @Test(
        "without an option and a variable, server and client find the same socket",
        arguments: [
            (["XDG_RUNTIME_DIR": "/run/x"], "/run/x"),
            (["XDG_RUNTIME_DIR": "/run/x", "COUNTDOWND_SOCKET": ""], "/run/x"),
            ([:], "/run/user/1000"),
            (["XDG_RUNTIME_DIR": ""], "/run/user/1000"),
            (["XDG_RUNTIME_DIR": "run/x"], "/run/user/1000"),
        ]
    )
    func meeting(environment: [String: String], directory: String) throws {
        let address = try server(environment, [directory: Self.own])
        #expect(address.path == "\(directory)/countdownd/io.countdownd")
        #expect(try client(environment, [directory: Self.own]) == address)
    }

    @Test("the error for a user without a session names the missing directory")
    func noSession() {
        let failure = AddressError.directory("/run/user/1000", origin: .user, uid: 1000, fault: .missing)
        #expect(throws: failure) { try client() }
        #expect(throws: failure) { try server() }
    }

    @Test(
        "a runtime directory in which others can write is refused",
        arguments: [
            (
                FileStatus(isDirectory: true, owner: 1000, mode: 0o720),
                AddressError.DirectoryFault.writableByOthers(mode: 0o720)
            ),
            (FileStatus(isDirectory: true, owner: 1000, mode: 0o1777), .writableByOthers(mode: 0o1777)),
            (FileStatus(isDirectory: true, owner: 1001, mode: 0o700), .foreignOwner(uid: 1001)),
            (FileStatus(isDirectory: false, owner: 1000, mode: 0o600), .notADirectory),
        ]
    )
    func unsafeDirectory(status: FileStatus, fault: AddressError.DirectoryFault) {
        let named = AddressError.directory("/d", origin: .environment, uid: 1000, fault: fault)
        #expect(throws: named) { try server(["XDG_RUNTIME_DIR": "/d"], ["/d": status]) }
        #expect(throws: named) { try client(["XDG_RUNTIME_DIR": "/d"], ["/d": status]) }
        let found = AddressError.directory("/run/user/1000", origin: .user, uid: 1000, fault: fault)
        #expect(throws: found) { try server([:], ["/run/user/1000": status]) }
        #expect(throws: found) { try client([:], ["/run/user/1000": status]) }
    }

    @Test("a directory of root is accepted only if the variable names it")
    func rootOwned() throws {
        let roots = FileStatus(isDirectory: true, owner: 0, mode: 0o755)
        #expect(try client(["XDG_RUNTIME_DIR": "/d"], ["/d": roots]).path == "/d/countdownd/io.countdownd")
        #expect(
            throws: AddressError.directory("/run/user/1000", origin: .user, uid: 1000, fault: .foreignOwner(uid: 0))
        ) {
            try client([:], ["/run/user/1000": roots])
        }
    }

    @Test("the error for a directory that cannot be examined has the reason")
    func unreadable() {
        var surroundings = surroundings(["XDG_RUNTIME_DIR": "/d"], [:])
        surroundings.status = { _ throws(SystemFailure) in throw SystemFailure("stat", code: 13) }
        #expect(throws: AddressError.directory("/d", origin: .environment, uid: 1000, fault: .unreadable(errno: 13))) {
            try Address.forClient(in: surroundings)
        }
    }

    @Test("a path of 107 bytes is accepted, and one of 108 is refused with the limit")
    func length() throws {
        let longest = "/" + String(repeating: "é", count: 53)
        #expect(longest.utf8.count == 107)
        #expect(try client(["COUNTDOWND_SOCKET": longest]).path == longest)
        let tooLong = AddressError.pathTooLong(path: longest + "x", bytes: 108, limit: 107)
        #expect(throws: tooLong) { try client(["COUNTDOWND_SOCKET": longest + "x"]) }
        #expect(throws: tooLong) { try server(option: longest + "x") }
        let deep = "/" + String(repeating: "d", count: 90)
        let failure = AddressError.pathTooLong(path: deep + "/countdownd/io.countdownd", bytes: 116, limit: 107)
        #expect(throws: failure) { try server(["XDG_RUNTIME_DIR": deep], [deep: Self.own]) }
    }

    @Test("an error says what is wrong and what to do, without raw control characters")
    func sentences() {
        let missing = AddressError.directory("/run/user/1000", origin: .user, uid: 1000, fault: .missing)
        #expect(missing.description == "no session of UID 1000: `loginctl enable-linger`")
        let named = AddressError.directory("/d\u{1B}", origin: .environment, uid: 1000, fault: .notADirectory)
        #expect(named.description == #"XDG_RUNTIME_DIR is /d\u{1b}, which is not a directory; correct it"#)
    }
}
