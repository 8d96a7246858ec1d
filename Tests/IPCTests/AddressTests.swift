import IPC
import Testing

@Suite("The socket's address")
struct AddressTests {
    private static let own = FileStatus(isDirectory: true, owner: 1000, mode: 0o700)

    /// What stat(2) says of a machine that holds only these directories.
    private func status(of path: String, among files: [String: FileStatus]) throws(Errno) -> FileStatus {
        guard let status = files[path] else { throw Errno(code: 2) }
        return status
    }

    private func server(
        option: String? = nil,
        _ environment: [String: String] = [:],
        _ files: [String: FileStatus] = [:]
    ) throws(AddressError) -> Address {
        try Address.forServer(
            option: option,
            environment: { environment[$0] },
            uid: 1000,
            status: { path throws(Errno) in try status(of: path, among: files) }
        )
    }

    private func client(
        _ environment: [String: String] = [:],
        _ files: [String: FileStatus] = [:]
    ) throws(AddressError) -> Address {
        try Address.forClient(
            environment: { environment[$0] },
            uid: 1000,
            status: { path throws(Errno) in try status(of: path, among: files) }
        )
    }

    @Test("a server listens where its option says, whatever the environment says")
    func option() throws {
        let address = try server(option: "/srv/c.sock", ["XDG_RUNTIME_DIR": "/run/x", "COUNTDOWND_SOCKET": "/other"])
        #expect(address.path == "/srv/c.sock")
        #expect(address.origin == .option)
    }

    @Test("an empty option is refused")
    func emptyOption() {
        #expect(throws: AddressError.emptyOption) { try server(option: "", [:], ["/run/user/1000": Self.own]) }
    }

    @Test("a client connects where $COUNTDOWND_SOCKET says, and a server does not listen there")
    func variable() throws {
        let environment = ["COUNTDOWND_SOCKET": "/srv/c.sock", "XDG_RUNTIME_DIR": "/run/x"]
        #expect(try client(environment).path == "/srv/c.sock")
        #expect(try client(environment).origin == .variable)
        #expect(try server(environment, ["/run/x": Self.own]).path == "/run/x/countdownd/io.countdownd")
    }

    @Test(
        "a server and a client that were told nothing meet",
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
        #expect(address.origin == .runtimeDirectory(directory))
        #expect(try client(environment, [directory: Self.own]) == address)
    }

    @Test("a user without a session is told which directory was looked for")
    func noSession() {
        let failure = AddressError.directory("/run/user/1000", origin: .user, uid: 1000, fault: .missing)
        #expect(throws: failure) { try client() }
        #expect(throws: failure) { try server() }
    }

    @Test(
        "a runtime directory in which others can write is refused, wherever its name comes from",
        arguments: [
            (
                FileStatus(isDirectory: true, owner: 1000, mode: 0o720),
                Address.DirectoryFault.writableByOthers(mode: 0o720)
            ),
            (FileStatus(isDirectory: true, owner: 1000, mode: 0o1777), .writableByOthers(mode: 0o1777)),
            (FileStatus(isDirectory: true, owner: 1001, mode: 0o700), .foreignOwner(uid: 1001)),
            (FileStatus(isDirectory: false, owner: 1000, mode: 0o600), .notADirectory),
        ]
    )
    func unsafeDirectory(status: FileStatus, fault: Address.DirectoryFault) {
        let named = AddressError.directory("/d", origin: .environment, uid: 1000, fault: fault)
        #expect(throws: named) { try server(["XDG_RUNTIME_DIR": "/d"], ["/d": status]) }
        #expect(throws: named) { try client(["XDG_RUNTIME_DIR": "/d"], ["/d": status]) }
        let found = AddressError.directory("/run/user/1000", origin: .user, uid: 1000, fault: fault)
        #expect(throws: found) { try server([:], ["/run/user/1000": status]) }
        #expect(throws: found) { try client([:], ["/run/user/1000": status]) }
    }

    @Test("a directory of root's will do where somebody names it, and not where the user's own is looked for")
    func rootOwned() throws {
        let roots = FileStatus(isDirectory: true, owner: 0, mode: 0o755)
        #expect(try client(["XDG_RUNTIME_DIR": "/d"], ["/d": roots]).path == "/d/countdownd/io.countdownd")
        #expect(
            throws: AddressError.directory("/run/user/1000", origin: .user, uid: 1000, fault: .foreignOwner(uid: 0))
        ) {
            try client([:], ["/run/user/1000": roots])
        }
    }

    @Test("a directory that cannot be looked at is told with the reason")
    func unreadable() {
        #expect(throws: AddressError.directory("/d", origin: .environment, uid: 7, fault: .unreadable(errno: 13))) {
            try Address.forClient(
                environment: { $0 == "XDG_RUNTIME_DIR" ? "/d" : nil },
                uid: 7,
                status: { _ throws(Errno) in throw Errno(code: 13) }
            )
        }
    }

    @Test("a path of 107 bytes is taken, one of 108 is refused with the limit")
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

    @Test("what stat(2) says of a directory is read, links followed, and of none ENOENT")
    func fileStatus() throws {
        let status = try FileStatus.read("/proc/self/cwd/")
        #expect(status.isDirectory)
        #expect(try FileStatus.read("/dev/null").isDirectory == false)
        #expect(try FileStatus.read("/dev/null") == FileStatus(isDirectory: false, owner: 0, mode: 0o666))
        #expect(throws: Errno(code: 2)) { try FileStatus.read("/nonexistent") }
    }
}
