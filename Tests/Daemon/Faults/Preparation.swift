import Foundation
import IPC
import TestSupport

/// A state directory to begin with, and its countdowns as clients know them.
struct Preparation: Sendable {
    /// Nil if there is none yet.
    private let origin: TemporaryDirectory?
    let ledger: Ledger
    let memory: WatchClient.Memory
    /// Files that no daemon may change or remove, though it may rename them.
    let kept: [String: Data]

    /// An empty directory.
    init() {
        self.init(origin: nil, ledger: Ledger(), memory: WatchClient.Memory())
    }

    private init(
        origin: TemporaryDirectory?,
        ledger: Ledger,
        memory: WatchClient.Memory,
        kept: [String: Data] = [:]
    ) {
        self.origin = origin
        self.ledger = ledger
        self.memory = memory
        self.kept = kept
    }

    /// A store that cannot be read.
    init(unreadable files: [String: Data]) throws {
        let origin = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: origin.path(of: "state/log"), withIntermediateDirectories: true)
        for (name, data) in files { try data.write(to: URL(fileURLWithPath: origin.path(of: "state/\(name)"))) }
        self.init(origin: origin, ledger: Ledger(), memory: WatchClient.Memory(), kept: files)
    }

    /// The store of a daemon that made changes and was then killed.
    ///
    /// - Parameter changes: the changes, in this order.
    /// - Throws: that an answer contradicts the ledger.
    init(after changes: [Change]) throws {
        let origin = try TemporaryDirectory()
        let daemon = try DaemonProcess(in: origin)
        let (changeClient, watchClient) = (ChangeClient(), WatchClient())
        try changeClient.connect(to: daemon.socketPath)
        try watchClient.connect(to: daemon.socketPath)
        watchClient.sync()
        for change in changes { try changeClient.change(change) }
        try daemon.kill()
        watchClient.drain()
        guard changeClient.ledger.faults.isEmpty, watchClient.faults.isEmpty else {
            throw Failed(faults: changeClient.ledger.faults + watchClient.faults)
        }
        self.init(origin: origin, ledger: changeClient.ledger, memory: watchClient.memory)
    }

    /// Copies it to the place where a daemon looks for it.
    func lay(in directory: TemporaryDirectory) throws {
        guard let origin else { return }
        try FileManager.default.copyItem(atPath: origin.path(of: "state"), toPath: directory.path(of: "state"))
    }

    struct Failed: Error {
        let faults: [String]
    }
}
