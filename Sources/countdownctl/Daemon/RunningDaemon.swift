import System

extension DaemonEndpoint {
    /// Whether the daemon runs, as far as this user may see its process. A connection would start it if the service manager
    /// holds its socket.
    var isRunning: Bool {
        let table = String(decoding: (try? StoredText.bytes(of: "/proc/net/unix")) ?? [], as: UTF8.self)
        let sockets = Set(
            table.split(separator: "\n").compactMap { line in
                let fields = line.split(separator: " ", maxSplits: 7)
                return fields.count == 8 && fields[7] == path ? "socket:[\(fields[6])]" : nil
            }
        )
        guard !sockets.isEmpty else { return false }
        return Self.names(in: "/proc").contains { process in
            guard let name = try? StoredText.read("/proc/\(process)/comm"), name == "countdownd\n" else { return false }
            let files = "/proc/\(process)/fd"
            return Self.names(in: files).contains { file in
                ((try? FileStatus.linkTarget("\(files)/\(file)")) ?? nil).map(sockets.contains) ?? false
            }
        }
    }

    private static func names(in path: String) -> [String] { (try? FileStatus.names(in: path)) ?? [] }
}
