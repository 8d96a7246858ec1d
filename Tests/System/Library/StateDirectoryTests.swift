import Glibc
import TestSupport
import Testing

@testable import System

@Suite("The state directory and its lock")
final class StateDirectoryTests: DirectorySuite {
    private var path: String { directory.path(of: "a/b/state") }

    private var host: String {
        var name = [CChar](repeating: 0, count: 256)
        unsafe gethostname(&name, name.count)
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The process that has locked the directory; nil if it is free.
    private func holder() throws -> String? {
        do {
            _ = try StateDirectory(path: path)
            return nil
        } catch StateDirectory.Unavailable.locked(let held, let holder) {
            #expect(held == path)
            return holder
        }
    }

    @Test("it is created, with its parents, accessible only to its user")
    func made() throws {
        _ = try StateDirectory(path: path)
        for directory in ["a", "a/b", "a/b/state"] {
            let status = try #require(FileIdentity.status(of: self.directory.path(of: directory)))
            #expect(status.st_mode & 0o777 == 0o700)
        }
    }

    @Test("the lock names the process and the host that hold it, and is free when they have gone")
    func holds() throws {
        func hold() throws -> String? {
            let held = try StateDirectory(path: path)
            let holder = try holder()
            #expect(held.path == path)
            return holder
        }
        #expect(try hold() == "process \(getpid()) on \(host)")
        #expect(try holder() == nil)
    }

    @Test("it is refused if another user owns it", .enabled(if: geteuid() == 0, "only root can give files away"))
    func foreign() throws {
        unsafe mkdir(directory.path(of: "foreign"), 0o700)
        unsafe chown(directory.path(of: "foreign"), 1_234, 0)
        let failure = #expect(throws: StateDirectory.Unavailable.self) {
            _ = try StateDirectory(path: directory.path(of: "foreign"))
        }
        guard case .foreign(directory.path(of: "foreign"), .foreignOwner(uid: 1_234)) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("a link in the place of the lock is refused, and no other file is changed")
    func linkedLock() throws {
        let precious = try directory.write("precious", to: "precious")
        unsafe mkdir(directory.path(of: "linked"), 0o700)
        let lock = directory.path(of: "linked/lock")
        unsafe symlink(precious, lock)
        #expect(throws: StateDirectory.Unavailable.self) { _ = try StateDirectory(path: directory.path(of: "linked")) }
        unsafe unlink(lock)
        unsafe link(precious, lock)
        _ = try StateDirectory(path: directory.path(of: "linked"))
        #expect(try StoredText.read(precious) == "precious")
    }

    @Test("it is no longer locked if the lock file is removed or replaced")
    func lockFileLost() throws {
        let held = try StateDirectory(path: path)
        var isLocked = held.isLocked
        #expect(isLocked)
        unsafe unlink("\(path)/lock")
        isLocked = held.isLocked
        #expect(!isLocked)
        _ = try StateDirectory(path: path)
        isLocked = held.isLocked
        #expect(!isLocked)
    }

    @Test("if the lock names no process, the holder is unknown")
    func unnamed() throws {
        _ = try StateDirectory(path: path)
        let lock = unsafe open("\(path)/lock", O_RDWR | O_TRUNC | O_CLOEXEC)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX | LOCK_NB) == 0)
        #expect(try holder() == "an unknown process")
        for line in ["process 7 on elsewhere\nmore", "\u{1}"] {
            unsafe _ = pwrite(lock, line, line.utf8.count, 0)
            #expect(try holder() == line.split(separator: "\n").first.map(String.init))
            ftruncate(lock, 0)
        }
    }

    @Test("the option names the state directory, else systemd or the XDG specification does")
    func stateDirectory() {
        func path(_ option: String?, _ variables: [String: String]) -> String? {
            StateDirectory.path(of: "program", option: option) { variables[$0] }
        }
        let all = ["STATE_DIRECTORY": "/s:/t", "XDG_STATE_HOME": "/x", "HOME": "/h"]
        #expect(path("/o", all) == "/o")
        #expect(path(nil, all) == "/s")
        #expect(path(nil, ["XDG_STATE_HOME": "/x", "HOME": "/h"]) == "/x/program")
        #expect(path(nil, ["HOME": "/h"]) == "/h/.local/state/program")
        #expect(path(nil, [:]) == nil)
    }
}
