import Glibc
import System
import TestSupport
import Testing

@Suite("The listening socket")
final class ListenerTests: DirectorySuite {
    private func mode(of name: String) -> mode_t? {
        FileIdentity.status(of: directory.path(of: name)).map { $0.st_mode & 0o7777 }
    }

    private func listen(_ name: String) throws(Listener.Failure) {
        _ = try Listener(at: directory.path(of: name))
    }

    @Test("belongs to its user alone, and so does its directory")
    func modes() throws {
        let listener = try Listener(at: directory.path(of: "made/socket"))
        #expect(listener.descriptor >= 0)
        #expect(mode(of: "made") == 0o700)
        #expect(mode(of: "made/socket") == 0o600)
    }

    @Test(
        "has its mode and group whatever the umask, and its directory lets the same users pass",
        arguments: [0, 0o077]
    )
    func rights(_ mask: mode_t) throws {
        let group: UInt32 = geteuid() == 0 ? 4242 : getegid()
        let former = umask(mask)
        defer { umask(former) }
        let access = Listener.Access(mode: 0o660, group: group)
        let listener = try Listener(at: directory.path(of: "made/socket"), access: access)
        #expect(listener.descriptor >= 0)
        #expect(mode(of: "made") == 0o710)
        #expect(mode(of: "made/socket") == 0o660)
        #expect(FileIdentity.status(of: directory.path(of: "made"))?.st_gid == group)
        #expect(FileIdentity.status(of: directory.path(of: "made/socket"))?.st_gid == group)
    }

    @Test(
        "is not made, and neither is its directory, if it cannot have its group",
        .enabled(if: geteuid() == 0, "only root can become another user")
    )
    func foreignGroup() throws {
        unsafe chmod(directory.path, 0o1777)
        for name in ["socket", "made/socket"] {
            let failure = #expect(throws: Listener.Failure.self) {
                try withRightsOfNobody {
                    _ = try Listener(at: directory.path(of: name), access: Listener.Access(mode: 0o660, group: 4242))
                }
            }
            #expect(failure?.description.contains(" to the group 4242: ") == true, "\(failure as Any)")
            #expect(mode(of: "socket") == nil && mode(of: "made") == nil)
        }
    }

    @Test("is removed with the listener, but not if another file has replaced it")
    func goes() throws {
        do {
            let listener = try Listener(at: directory.path(of: "socket"))
            #expect(listener.descriptor >= 0)
        }
        #expect(mode(of: "socket") == nil)
        do {
            let listener = try Listener(at: directory.path(of: "socket"))
            #expect(listener.descriptor >= 0)
            unsafe rename(directory.path(of: "socket"), directory.path(of: "moved"))
            unsafe close(open(directory.path(of: "socket"), O_CREAT | O_CLOEXEC, 0o600))
        }
        #expect(mode(of: "socket") != nil)
    }

    @Test("can be in a directory behind a link")
    func link() throws {
        unsafe mkdir(directory.path(of: "real"), 0o700)
        unsafe symlink(directory.path(of: "real"), directory.path(of: "link"))
        let listener = try Listener(at: directory.path(of: "link/socket"))
        #expect(listener.descriptor >= 0)
        #expect(mode(of: "real/socket") != nil)
    }

    @Test(
        "is not made in a directory in which its group or every user could replace it; a sticky bit prevents that",
        arguments: [0o777, 0o770, 0o1777]
    )
    func openDirectory(mode: mode_t) throws {
        unsafe mkdir(directory.path(of: "open"), 0o700)
        unsafe chmod(directory.path(of: "open"), mode)
        for name in ["open/socket", "open/made/socket"] {
            guard mode & S_ISVTX == 0 else {
                try listen(name)
                continue
            }
            let failure = #expect(throws: Listener.Failure.self) { try listen(name) }
            let sentence = "\(directory.path(of: "open")) can be written by others "
            #expect(failure?.description.hasPrefix(sentence) == true, "\(failure as Any)")
        }
    }

    @Test("is replaced only if no daemon answers on it")
    func inUse() throws {
        do {
            let listener = try Listener(at: directory.path(of: "socket"))
            #expect(listener.descriptor >= 0)
            let failure = #expect(throws: Listener.Failure.self) { try listen("socket") }
            let sentence = "another process answers on \(directory.path(of: "socket")); "
            #expect(failure?.description.hasPrefix(sentence) == true, "\(failure as Any)")
            // So that it stays behind, as after a crash.
            unsafe rename(directory.path(of: "socket"), directory.path(of: "stale"))
        }
        #expect(mode(of: "stale") != nil)
        try listen("stale")
    }

    @Test("replaces no file that is not a socket")
    func notASocket() throws {
        unsafe close(open(directory.path(of: "file"), O_CREAT | O_CLOEXEC, 0o600))
        let failure = #expect(throws: Listener.Failure.self) { try listen("file") }
        let sentence = "\(directory.path(of: "file")) is not a socket; "
        #expect(failure?.description.hasPrefix(sentence) == true, "\(failure as Any)")
        #expect(mode(of: "file") != nil)
    }
}
