import CountdownCore
import Glibc
import System

/// Where the store is and how it is opened, at the start and if it could not be opened then.
struct StoreLocation {
    /// Nil if no home directory is known.
    let directory: String?
    let durability: SQLiteStore.Durability
    let limits: Limits
    let log: Log

    /// The path of the database.
    var path: String? { directory.map { "\($0)/countdowns.db" } }

    func open(at now: Now) throws(OpenError) -> OpenedStore {
        guard let directory, let path else {
            throw .unavailable(StoreFailure(reason: "there is no home directory: give a --state-directory", hint: nil))
        }
        let held = try StateDirectory.ofStore(at: directory)
        let file = StoreFile(
            path: path,
            durability: durability,
            recovery: Recovery(limits: limits, now: now, bootID: BootIdentity.current),
            log: log
        )
        return try file.open(in: held)
    }
}

extension StateDirectory {
    /// Makes the directory of the store if it is missing, and locks it.
    static func ofStore(at path: String) throws(OpenError) -> StateDirectory {
        do throws(StateDirectory.Unavailable) {
            return try StateDirectory(path: path)
        } catch {
            switch error {
            case .locked(let path, let holder): throw .held(path: path, holder: holder)
            case .unusable(let path, let failure): throw .unavailable(StoreFailure(failure, of: path))
            }
        }
    }
}

/// The identity of a boot: a time of CLOCK_BOOTTIME means something only within one.
enum BootIdentity {
    /// The identity of this boot; empty if the kernel does not tell it.
    ///
    /// In a time namespace CLOCK_BOOTTIME can have an offset, so that stored times mean something else than outside of it,
    /// although the boot is the same. So the offset is a part of the identity.
    static var current: String {
        text(
            bootID: text(of: "/proc/sys/kernel/random/boot_id"),
            timeOffsets: text(of: "/proc/self/timens_offsets")
        )
    }

    /// - Parameters:
    ///   - bootID: random(4)'s text for this boot; empty if it is not known.
    ///   - timeOffsets: time_namespaces(7)'s lines for the offsets of the clocks; empty if there are no time namespaces.
    /// - Returns: empty if the kernel's text for the boot is.
    static func text(bootID: String, timeOffsets: String) -> String {
        guard let boot = bootID.split(separator: "\n").first.map(String.init) else { return "" }
        let offset = timeOffsets.split(separator: "\n")
            .map { $0.split(separator: " ") }
            .first { $0.first == "boottime" }?
            .dropFirst()
            .joined(separator: " ")
        guard let offset, offset != "0 0" else { return boot }
        return "\(boot) with CLOCK_BOOTTIME moved by \(offset) s ns"
    }

    private static func text(of path: String) -> String {
        guard let file = try? Descriptor(owning: unsafe open(path, O_RDONLY | O_CLOEXEC), of: "open") else { return "" }
        return unsafe String(unsafeUninitializedCapacity: 256) {
            unsafe max(0, read(file.number, $0.baseAddress, $0.count))
        }
    }
}
