import TestSupport

/// A started daemon and a client of it, new for each test.
class DaemonSuite: CallerSuite {
    let daemon: DaemonProcess
    let caller: Caller

    init() throws {
        daemon = try DaemonProcess()
        caller = try Caller(of: daemon)
    }
}
