import Glibc
import IPC

/// A folder that nobody else can look into, and that goes with what was put there.
struct PrivateFolder: ~Copyable {
    private let path: String

    /// Makes it in the directory of the session, which the system clears, else in /tmp.
    ///
    /// - Throws: why it cannot be made.
    init() throws(Failure) {
        let parent = Environment.value(of: "XDG_RUNTIME_DIR") ?? "/tmp"
        guard let path = Self.make(in: parent) ?? Self.make(in: "/tmp") else {
            throw Failure(.internalFault, "cannot make a folder in /tmp: \(systemMessage(errno))")
        }
        self.path = path
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    deinit {
        for name in ["daemon", "control"] { unsafe unlink(path(of: name)) }
        unsafe rmdir(path)
    }

    /// Nil where it cannot be made, or the path of a socket in it would be too long: ssh puts 17 letters behind it.
    private static func make(in parent: String) -> String? {
        guard parent.utf8.count + 46 <= Address.pathLimit else { return nil }
        var template = Array("\(parent)/countdownctl-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { return nil }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
