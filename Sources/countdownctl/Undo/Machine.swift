import System

/// The identities of this machine and of its boot; empty if the system has none.
struct Machine {
    private static let identifierPath = "/etc/machine-id"

    let machine = Self.read(Self.identifierPath)
    let boot = Self.read("/proc/sys/kernel/random/boot_id")

    /// Whether a change was made on this machine. One that was made on a system without an identifier may have been.
    func isOwner(of record: UndoRecord) -> Bool { record.machine.isEmpty || record.machine == machine }

    /// Whether a directory outlasts the identifier of the machine, as if a live system has a new one after each start.
    static func isOutlasted(by directory: String) -> Bool {
        StoredText.isInMemory(identifierPath) == true && StoredText.isInMemory(directory) == false
    }

    private static func read(_ path: String) -> String {
        ((try? StoredText.read(path)) ?? nil)?.split(separator: "\n").first.map(String.init) ?? ""
    }
}
