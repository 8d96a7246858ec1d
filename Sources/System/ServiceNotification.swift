import CLinux
import Glibc

/// Notifications for the service manager that has started the process, as in sd_notify(3).
public enum ServiceNotification {
    /// Sends a notification without waiting for room, because systemd may be stopped or busy for any time.
    ///
    /// - Returns: whether it was sent, or cannot be sent at all.
    public static func send(_ state: String) -> Bool {
        guard let path = Environment.value(of: "NOTIFY_SOCKET") else { return true }
        return unsafe linux_unix_tell(path, state) == 0 || errno != EAGAIN
    }
}
