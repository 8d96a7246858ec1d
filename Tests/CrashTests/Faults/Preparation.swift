import Foundation
import IPC
import TestSupport

/// A state directory to begin with, and what clients know of it.
struct Preparation: Sendable {
    /// Nil where there is none yet.
    private let origin: TemporaryDirectory?
    let ledger: Ledger
    let memory: Witness.Memory
    /// Files that nobody may change or remove, though they may get other names.
    let kept: [String: Data]

    /// Nothing.
    init() {
        self.init(origin: nil, ledger: Ledger(), memory: Witness.Memory())
    }

    private init(
        origin: TemporaryDirectory?,
        ledger: Ledger,
        memory: Witness.Memory,
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
        try FileManager.default.createDirectory(atPath: origin.path(of: "state"), withIntermediateDirectories: false)
        for (name, data) in files { try data.write(to: URL(fileURLWithPath: origin.path(of: "state/\(name)"))) }
        self.init(origin: origin, ledger: Ledger(), memory: Witness.Memory(), kept: files)
    }

    /// The store of a daemon that was asked for changes, and then killed.
    ///
    /// - Parameters:
    ///   - changes: what it is asked, one after the other.
    ///   - filling: asked again and again until the log has so many frames.
    /// - Throws: where it was told what cannot be.
    init(after changes: [Change], filling: (change: Change, frames: Int)? = nil) throws {
        let origin = try TemporaryDirectory()
        let daemon = try DaemonProcess(in: origin)
        let (asker, witness) = (Asker(), Witness())
        try asker.connect(to: daemon.socketPath)
        try witness.connect(to: daemon.socketPath)
        witness.sync()
        for change in changes { try asker.change(change) }
        if let filling {
            while Self.frames(in: daemon.stateDirectory) < filling.frames { try asker.change(filling.change) }
        }
        try daemon.kill()
        witness.drain()
        guard asker.ledger.faults.isEmpty, witness.faults.isEmpty else {
            throw Failed(faults: asker.ledger.faults + witness.faults)
        }
        self.init(origin: origin, ledger: asker.ledger, memory: witness.memory)
    }

    /// Puts it where a daemon will look for it.
    func lay(in directory: TemporaryDirectory) throws {
        guard let origin else { return }
        try FileManager.default.copyItem(atPath: origin.path(of: "state"), toPath: directory.path(of: "state"))
    }

    /// How many frames the write-ahead log has: pages of 1 KiB with their heads.
    private static func frames(in directory: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/countdowns.db-wal")
        return ((attributes?[.size] as? Int ?? 0) - 32) / (1_024 + 24)
    }

    struct Failed: Error {
        let faults: [String]
    }
}
