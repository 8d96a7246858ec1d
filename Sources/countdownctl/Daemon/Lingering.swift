import Glibc
import IPC

/// Whether the services of a user run without a session of his, as systemd-logind keeps it.
enum Lingering {
    /// Nil where the name of the user is not to be found.
    static func isEnabled() -> Bool? {
        guard let user = userName(uid: geteuid(), environment: Environment.value) else { return nil }
        return unsafe access("/var/lib/systemd/linger/\(user)", F_OK) == 0
    }

    /// The name in /etc/passwd, or that of the session: getpwuid(3) would load libraries into a static executable.
    private static func userName(uid: UInt32, environment: (String) -> String?) -> String? {
        userName(uid: uid, in: TextFile.lines(of: "/etc/passwd")) ?? environment("USER") ?? environment("LOGNAME")
    }

    /// The name of a user in lines in the form of passwd(5).
    static func userName(uid: UInt32, in lines: [Substring]) -> String? {
        for line in lines {
            let fields = line.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
            if fields.count == 4, UInt32(fields[2]) == uid { return String(fields[0]) }
        }
        return nil
    }
}

/// A file that the system keeps as text.
private enum TextFile {
    /// Its lines; none where it cannot be read.
    static func lines(of path: String) -> [Substring] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }
}
