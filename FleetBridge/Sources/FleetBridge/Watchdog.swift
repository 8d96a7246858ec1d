import Glibc
import NIOCore
import System

/// The watchdog of systemd: if the loop hangs, systemd ends the bridge and starts it again.
@BridgeLoop
enum Watchdog {
    /// Feeds the watchdog again and again, if systemd has set one for this process.
    static func start() {
        guard let interval = Environment.value(of: "WATCHDOG_USEC").flatMap(Int64.init), interval > 0,
            Environment.value(of: "WATCHDOG_PID").map({ $0 == "\(getpid())" }) ?? true
        else { return }
        feed(every: .microseconds(max(1, interval / 3)))
    }

    private static func feed(every time: TimeAmount) {
        _ = ServiceNotification.send("WATCHDOG=1")
        BridgeLoop.run(after: time) { feed(every: time) }
    }
}
