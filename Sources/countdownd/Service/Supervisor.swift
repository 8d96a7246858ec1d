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
        /// Descriptors were handed over, and none of them is one that can be served.
        case unusable(count: Int)
    }

    /// How often the watchdog has to hear from us; nil where none is set.
    let watchdogInterval: TimeSpan?

    init() {
        var interval: UInt64 = 0
        let isWatched = unsafe sd_watchdog_enabled(0, &interval) > 0 && interval > 0
        watchdogInterval = isWatched ? TimeSpan(microseconds: Int64(clamping: interval)) : nil
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

    /// The socket with the name `varlink` (FileDescriptorName= of the socket unit), or the only one that there is.
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
        if let socket = named.first(where: { $0.name == "varlink" }) { return .socket(socket.descriptor) }
        guard named.count == 1 else { return .unusable(count: Int(count)) }
        return .socket(named[0].descriptor)
    }
}
