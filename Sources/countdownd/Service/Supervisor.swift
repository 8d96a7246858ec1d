import CLinux
import CSystemd
import CountdownCore
import Glibc

/// systemd, as far as it supervises this process: what it is told, and what it hands over.
struct Supervisor {
    /// A socket that systemd listens on for us.
    enum Activation {
        case none
        case socket(Int32)
        /// Sockets were passed, and which of them to serve is not clear; a sentence says what is expected.
        case unusable(String)
    }

    /// How often the watchdog has to hear from us; nil where none is set.
    let watchdogInterval: Duration?

    init() {
        var interval: UInt64 = 0
        let isWatched = unsafe sd_watchdog_enabled(0, &interval) > 0 && interval > 0
        watchdogInterval = isWatched ? Duration(microseconds: Int64(clamping: interval)) : nil
    }

    /// Tells systemd, and waits until it has room for it; nothing happens where the process was not started by it.
    func notify(_ state: String) {
        unsafe sd_notify(0, state)
    }

    /// Tells systemd, which may be stopped or busy with something else for any time, without waiting for it.
    /// - Returns: whether there was room for it, or nobody to be told.
    func notifyAtOnce(_ state: String) -> Bool {
        guard let path = unsafe getenv("NOTIFY_SOCKET") else { return true }
        return unsafe linux_unix_tell(path, state) == 0 || errno != EAGAIN
    }

    /// The socket with the name `varlink` (FileDescriptorName= of the socket unit), or the only one that was passed.
    ///
    /// Two sockets are refused and not served in part, because a client of the other one would wait for ever.
    func takeActivation() -> Activation {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(1, &names)
        guard count > 0, let names = unsafe names else { return .none }
        defer { unsafe free(names) }
        var named: [(name: String, descriptor: Int32)] = []
        for index in 0..<Int(count) {
            guard let name = unsafe names[index] else { continue }
            defer { unsafe free(name) }
            let descriptor = SD_LISTEN_FDS_START + Int32(index)
            guard sd_is_socket_unix(descriptor, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else { continue }
            named.append((unsafe String(cString: name), descriptor))
        }
        return Self.choose(from: named, of: Int(count))
    }

    private static func choose(from sockets: [(name: String, descriptor: Int32)], of count: Int) -> Activation {
        guard !sockets.isEmpty else {
            return .unusable("none of the \(count) descriptors that were passed is a listening Unix stream socket")
        }
        let varlink = sockets.filter { $0.name == "varlink" }
        let candidates = varlink.isEmpty ? sockets : varlink
        if candidates.count == 1 { return .socket(candidates[0].descriptor) }
        let names = varlink.isEmpty ? " (\(sockets.map(\.name).joined(separator: ", ")))" : " with the name varlink"
        return .unusable(
            "\(candidates.count) listening sockets\(names) were passed, and one with the name varlink is expected, "
                + "or a single one with any name: see ListenStream= and FileDescriptorName= of the socket unit"
        )
    }
}
