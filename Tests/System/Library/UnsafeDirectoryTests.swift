import Glibc
import TestSupport
import Testing

@testable import System

@Suite("Directories on the way to a file")
struct UnsafeDirectoryTests {
    private let directory: TemporaryDirectory
    /// The way to a directory, its path without links.
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["a", "a/b", "a/b/c", "side", "side/target"] { unsafe mkdir(directory.path(of: name), 0o700) }
        path = directory.path(of: "a/b/c")
    }

    private func fault(_ path: String? = nil, for user: UInt32 = geteuid()) -> UnsafeDirectory? {
        do throws(UnsafeDirectory) {
            try UnsafeDirectory.check(wayTo: path ?? self.path, for: user)
            return nil
        } catch {
            return error
        }
    }

    private func expectFault(
        _ fault: DirectoryFault,
        of name: String,
        on way: String? = nil,
        _ line: SourceLocation = #_sourceLocation
    ) {
        #expect(self.fault(way) == UnsafeDirectory(path: directory.path(of: name), fault: fault), sourceLocation: line)
    }

    @Test("are safe if only their user and root can write in them, and in a directory with a sticky bit")
    func safe() {
        #expect(fault() == nil)
        #expect(fault("\(path)/../.././b//c/") == nil)
        #expect(fault(".") == fault("./."))
        unsafe chmod(directory.path(of: "a"), 0o1777)
        #expect(fault() == nil)
    }

    @Test(
        "are refused if their group or everybody can write in one of them, however far up",
        arguments: ["a", "a/b", "a/b/c"]
    )
    func writable(name: String) {
        for mode: mode_t in [0o770, 0o702, 0o2770] {
            unsafe chmod(directory.path(of: name), mode)
            expectFault(.writableByOthers(mode: mode), of: name)
        }
    }

    @Test("are refused if one of them is missing or is not a directory")
    func missing() throws {
        expectFault(.missing, of: "a/x", on: directory.path(of: "a/x/y"))
        try directory.write("", to: "file")
        expectFault(.notADirectory, of: "file", on: directory.path(of: "file"))
    }

    @Test("are those of a link and of its target")
    func links() throws {
        unsafe symlink("../side/target", directory.path(of: "a/link"))
        unsafe symlink(directory.path(of: "a/link"), directory.path(of: "a/b/link"))
        let way = directory.path(of: "a/b/link")
        #expect(fault(way) == nil)
        for name in ["a", "a/b", "side", "side/target"] {
            unsafe chmod(directory.path(of: name), 0o770)
            expectFault(.writableByOthers(mode: 0o770), of: name, on: way)
            unsafe chmod(directory.path(of: name), 0o700)
        }
        unsafe symlink("loop", directory.path(of: "loop"))
        expectFault(.unreadable(errno: ELOOP), of: "loop", on: directory.path(of: "loop"))
    }

    @Test(
        "belong to their user or to root",
        .enabled(if: geteuid() == 0, "only root can give files away"),
        arguments: ["a", "a/b", "a/b/c"]
    )
    func owner(name: String) {
        #expect(fault(for: 1_234) == nil)
        unsafe chown(directory.path(of: name), 1_234, 0)
        #expect(fault(for: 1_234) == nil)
        expectFault(.foreignOwner(uid: 1_234), of: name)
    }

    @Test("include no link of another user", .enabled(if: geteuid() == 0, "only root can give files away"))
    func linkOwner() {
        unsafe symlink(path, directory.path(of: "side/link"))
        unsafe chmod(directory.path(of: "side"), 0o1777)
        let way = directory.path(of: "side/link")
        #expect(fault(way) == nil)
        unsafe lchown(way, 1_234, 0)
        expectFault(.foreignOwner(uid: 1_234), of: "side/link", on: way)
    }
}
